/** The certificates of an installation and the Secrets that hold them. */
import { MIGRATION_CLIENT_NAME, VIRT_API_SERVER_NAME, VIRT_HANDLER_CLIENT_NAME, VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import type { LeafRequest } from '../../base/node/pki-issue.ts';
import { CERTIFICATES } from '../render/options.ts';

/** The Secret with the newest authority and its key. Only the operator reads it. */
export const AUTHORITY_SECRET = 'kubevirt-ca';

export const LEAVES: Readonly<Record<string, LeafRequest>> = {
  [CERTIFICATES.virtApi]: server(VIRT_API_SERVER_NAME),
  [CERTIFICATES.handlerServer]: server(VIRT_HANDLER_SERVER_NAME),
  [CERTIFICATES.handlerClient]: { subject: { commonName: VIRT_HANDLER_CLIENT_NAME }, use: 'client' },
  [CERTIFICATES.migrationClient]: { subject: { commonName: MIGRATION_CLIENT_NAME }, use: 'client' },
};

/** On the KubeVirt object: another value asks for new certificates at once. On the Secret: the value that was last answered. */
export const ANNOTATION_ROTATE = 'kubevirt.io/rotate-certificates';

function server(name: string): LeafRequest {
  return { subject: { commonName: name }, use: 'server', dnsNames: [name] };
}

/** Names that end up in DNS or name another object. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { dnsLabelCauses, subdomainCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

const SUBDOMAINS = ['subdomain', 'priorityClassName', 'schedulerName'] as const;

/** hostname is a DNS label; the others are DNS subdomains. */
export function validateNames(spec: VmiSpec, path: string): StatusCause[] {
  return [
    ...dnsLabelCauses(`${path}.hostname`, spec.hostname || undefined),
    ...SUBDOMAINS.flatMap((field) => subdomainCauses(`${path}.${field}`, spec[field])),
  ];
}

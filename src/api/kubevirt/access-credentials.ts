/** Keys and passwords for a guest (9.6): which Secrets they come from, and where the launcher Pod has them. Pure. */
import { sha1Hex } from '../../base/sha1.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';

/** By which way the guest gets them. */
export type CredentialSource = { readonly secretName: string } & (
  | { readonly way: 'cloud-init' }
  | { readonly way: 'agent-keys'; readonly users: readonly string[] }
  | { readonly way: 'agent-passwords' }
);

const FOLDER = '/var/run/kubevirt-access-credentials';

/** Every credential with its Secret; what admission would have refused is left out. */
export function credentialSourcesOf({ accessCredentials = [] }: Pick<VmiSpec, 'accessCredentials'>): CredentialSource[] {
  return accessCredentials.flatMap(({ sshPublicKey, userPassword }): CredentialSource[] => {
    const secretName = (sshPublicKey ?? userPassword)?.source?.secret?.secretName;
    if (!secretName) return [];
    if (userPassword) return [{ secretName, way: 'agent-passwords' }];
    const { noCloud, qemuGuestAgent } = sshPublicKey?.propagationMethod ?? {};
    if (noCloud) return [{ secretName, way: 'cloud-init' }];
    return qemuGuestAgent ? [{ secretName, way: 'agent-keys', users: qemuGuestAgent.users ?? [] }] : [];
  });
}

/** The Pod's volume with the Secret; its name need not be one that a volume may have. */
export function credentialVolumeName(secretName: string): string {
  return `access-cred-${sha1Hex(secretName).slice(0, 12)}`;
}

/** Where the launcher sees it. */
export function credentialMountPath(secretName: string): string {
  return `${FOLDER}/${credentialVolumeName(secretName)}`;
}

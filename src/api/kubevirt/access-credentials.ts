/** Keys and passwords for a guest: which Secrets they come from. Pure. */
import type { VmiSpec } from './vmi-spec-schema.ts';

/** By which way the guest gets them. */
export type CredentialSource = { readonly secretName: string } & (
  | { readonly way: 'cloud-init'; readonly layout: 'noCloud' | 'configDrive' }
  | { readonly way: 'agent-keys'; readonly users: readonly string[] }
  | { readonly way: 'agent-passwords' }
);

/** Every credential with its Secret; what admission would have refused is left out. */
export function credentialSourcesOf({ accessCredentials = [] }: Pick<VmiSpec, 'accessCredentials'>): CredentialSource[] {
  return accessCredentials.flatMap(({ sshPublicKey, userPassword }): CredentialSource[] => {
    const secretName = (sshPublicKey ?? userPassword)?.source?.secret?.secretName;
    if (!secretName) return [];
    if (userPassword) return [{ secretName, way: 'agent-passwords' }];
    const { noCloud, configDrive, qemuGuestAgent } = sshPublicKey?.propagationMethod ?? {};
    if (noCloud) return [{ secretName, way: 'cloud-init', layout: 'noCloud' }];
    if (configDrive) return [{ secretName, way: 'cloud-init', layout: 'configDrive' }];
    return qemuGuestAgent ? [{ secretName, way: 'agent-keys', users: qemuGuestAgent.users ?? [] }] : [];
  });
}

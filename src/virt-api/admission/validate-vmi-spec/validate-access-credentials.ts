/** Keys and passwords for the guest: one kind, one source and one way each, and the way must be there. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

type Credential = NonNullable<VmiSpec['accessCredentials']>[number];

/** configDrive is refused by its name before. */
const WAYS = 'configDrive, noCloud, qemuGuestAgent';

export function validateAccessCredentials({ accessCredentials = [], volumes = [] }: VmiSpec, path: string): StatusCause[] {
  const hasNoCloud = volumes.some(({ cloudInitNoCloud }) => cloudInitNoCloud);
  return accessCredentials.flatMap((credential, index) => credentialCauses(credential, `${path}.accessCredentials[${index}]`, hasNoCloud));
}

function credentialCauses({ sshPublicKey, userPassword }: Credential, at: string, hasNoCloud: boolean): StatusCause[] {
  if (sshPublicKey && userPassword) return [invalidCause(at, 'sshPublicKey, userPassword', 'a credential is only one of them')];
  const credential = sshPublicKey ?? userPassword;
  if (!credential) return [requiredCause(at, 'sshPublicKey or userPassword')];
  const field = `${at}.${sshPublicKey ? 'sshPublicKey' : 'userPassword'}`;
  const causes: StatusCause[] = [];
  if (!credential.source.secret?.secretName) causes.push(requiredCause(`${field}.source.secret.secretName`, 'the Secret that holds it'));
  const { noCloud, qemuGuestAgent } = { noCloud: undefined, ...credential.propagationMethod };
  if ((noCloud === undefined) === (qemuGuestAgent === undefined))
    return [...causes, requiredCause(`${field}.propagationMethod`, `exactly one of ${WAYS}`)];
  if (noCloud && !hasNoCloud) causes.push(invalidCause(`${field}.propagationMethod.noCloud`, {}, 'needs a cloudInitNoCloud volume'));
  const forKeys = sshPublicKey?.propagationMethod.qemuGuestAgent;
  if (forKeys && forKeys.users.length === 0)
    causes.push(requiredCause(`${field}.propagationMethod.qemuGuestAgent.users`, 'the users who get the key'));
  return causes;
}

/** Keys and passwords for the guest: one kind, one source and one way each, and the way must be there. */
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedCredential, CheckedSpec } from './checked-spec.ts';

const WAYS = ['configDrive', 'noCloud', 'qemuGuestAgent'] as const;

export function validateAccessCredentials({ accessCredentials = [], volumes = [] }: CheckedSpec, path: string): StatusCause[] {
  const hasNoCloud = volumes.some(({ cloudInitNoCloud }) => cloudInitNoCloud);
  const hasConfigDrive = volumes.some(({ cloudInitConfigDrive }) => cloudInitConfigDrive);
  return accessCredentials.flatMap((credential, index) =>
    credentialCauses(credential, { at: `${path}.accessCredentials[${index}]`, hasNoCloud, hasConfigDrive }),
  );
}

type Around = { readonly at: string; readonly hasNoCloud: boolean; readonly hasConfigDrive: boolean };

function credentialCauses({ sshPublicKey, userPassword }: CheckedCredential, { at, hasNoCloud, hasConfigDrive }: Around): StatusCause[] {
  if (sshPublicKey && userPassword) return [invalidCause(at, 'sshPublicKey, userPassword', 'a credential is only one of them')];
  const credential = sshPublicKey ?? userPassword;
  if (!credential) return [requiredCause(at, 'sshPublicKey or userPassword')];
  const field = `${at}.${sshPublicKey ? 'sshPublicKey' : 'userPassword'}`;
  const causes: StatusCause[] = [];
  if (!credential.source?.secret?.secretName) causes.push(requiredCause(`${field}.source.secret.secretName`, 'the Secret that holds it'));
  const { propagationMethod: ways = {} } = credential;
  const given = WAYS.filter((way) => ways[way]);
  if (given.length !== 1) return [...causes, requiredCause(`${field}.propagationMethod`, `exactly one of ${WAYS.join(', ')}`)];
  if (ways.noCloud && !hasNoCloud) causes.push(invalidCause(`${field}.propagationMethod.noCloud`, {}, 'needs a cloudInitNoCloud volume'));
  if (ways.configDrive && !hasConfigDrive)
    causes.push(invalidCause(`${field}.propagationMethod.configDrive`, {}, 'needs a cloudInitConfigDrive volume'));
  if (sshPublicKey && ways.qemuGuestAgent && !ways.qemuGuestAgent.users?.length)
    causes.push(requiredCause(`${field}.propagationMethod.qemuGuestAgent.users`, 'the users who get the key'));
  return causes;
}

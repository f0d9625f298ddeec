/** Keys and passwords for the guest: one kind, one source and one way each, and the way must be there. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

type Credential = NonNullable<VmiSpec['accessCredentials']>[number];

/** Ways that need a volume, and which. */
const VOLUME_FOR = { noCloud: 'cloudInitNoCloud', configDrive: 'cloudInitConfigDrive' } as const;
type CloudInitWay = keyof typeof VOLUME_FOR;
const WAYS = ['configDrive', 'noCloud', 'qemuGuestAgent'] as const;

export function validateAccessCredentials({ accessCredentials = [], volumes = [] }: VmiSpec, path: string): StatusCause[] {
  const hasVolume = (way: CloudInitWay) => volumes.some((volume) => volume[VOLUME_FOR[way]]);
  return accessCredentials.flatMap((credential, index) => credentialCauses(credential, `${path}.accessCredentials[${index}]`, hasVolume));
}

function credentialCauses(
  { sshPublicKey, userPassword }: Credential,
  at: string,
  hasVolume: (way: CloudInitWay) => boolean,
): StatusCause[] {
  if (sshPublicKey && userPassword) return [invalidCause(at, 'sshPublicKey, userPassword', 'a credential is only one of them')];
  const credential = sshPublicKey ?? userPassword;
  if (!credential) return [requiredCause(at, 'sshPublicKey or userPassword')];
  const field = `${at}.${sshPublicKey ? 'sshPublicKey' : 'userPassword'}`;
  const causes: StatusCause[] = [];
  if (!credential.source.secret?.secretName) causes.push(requiredCause(`${field}.source.secret.secretName`, 'the Secret that holds it'));
  const given: { readonly [Way in (typeof WAYS)[number]]?: unknown } = credential.propagationMethod;
  const ways = WAYS.filter((way) => given[way] !== undefined);
  if (ways.length !== 1) return [...causes, requiredCause(`${field}.propagationMethod`, `exactly one of ${WAYS.join(', ')}`)];
  for (const way of ways)
    if (way !== 'qemuGuestAgent' && !hasVolume(way))
      causes.push(invalidCause(`${field}.propagationMethod.${way}`, {}, `needs a ${VOLUME_FOR[way]} volume`));
  const forKeys = sshPublicKey?.propagationMethod.qemuGuestAgent;
  if (forKeys && forKeys.users.length === 0)
    causes.push(requiredCause(`${field}.propagationMethod.qemuGuestAgent.users`, 'the users who get the key'));
  return causes;
}

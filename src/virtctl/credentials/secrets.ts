/** The Secrets from which the agent of a guest gets keys and passwords while it runs. */
import { SECRETS, type Secret } from '../../api/core/secret.ts';
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import type { Connection, ConnectionFlags } from '../deps.ts';
import { readInput } from '../read-input.ts';
import { parsePublicKey } from './keys.ts';

export type CredentialFlags = ConnectionFlags & { readonly user: string; readonly secret?: string; readonly force: boolean };
export type KeyFlags = CredentialFlags & { readonly file?: string; readonly value?: string };

/** The machine of this name. */
export async function vmOf({ client, namespace }: Connection, name: string): Promise<VirtualMachine> {
  const vm = await client.get(VMS, { namespace, name });
  if (vm) return vm;
  throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
}

/** The Secret of this name. */
export async function secretOf({ client, namespace }: Connection, name: string): Promise<Secret> {
  const secret = await client.get(SECRETS, { namespace, name });
  if (secret) return secret;
  throw new ApiError('NotFound', `there is no Secret "${name}" in namespace ${namespace}`);
}

/** Other machines may take their keys from the same Secret. */
export function requireOwned(secret: Secret, vm: VirtualMachine, { force }: CredentialFlags): void {
  if (force || secret.metadata.ownerReferences?.some(({ uid }) => uid === vm.metadata.uid)) return;
  throw new UserError('NOT_OWNED', `the Secret ${secret.metadata.name} does not belong to ${vm.metadata.name} alone`, {
    why: 'the machine is not among its owners, so others may use it, too',
    fix: 'say --force to change it all the same',
    exitCode: 4,
  });
}

/** The public key that was given, itself or in a file. */
export function keyFrom({ file, value }: KeyFlags): string {
  if ((file === undefined) === (value === undefined))
    throw new UserError('USAGE', 'say the key with either --file or --value', { exitCode: 2 });
  return parsePublicKey(value ?? readInput(file ?? '').toString('utf8'));
}

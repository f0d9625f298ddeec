/** `virtctl credentials …`: the keys and passwords of a guest, in the Secrets from which its agent gets them while it runs. */
import { SECRETS, type Secret } from '../../api/core/secret.ts';
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { type Connection, type ConnectionFlags, connect, machineName } from '../connect.ts';
import type { Context } from '../context.ts';
import { randomName } from '../create/random-name.ts';
import { chooseSecrets } from '../credentials/choose-secrets.ts';
import { addKey, encode, parsePublicKey, removeKey } from '../credentials/keys.ts';
import { readInput } from '../read-input.ts';

type CredentialFlags = ConnectionFlags & { readonly user: string; readonly secret?: string; readonly force: boolean };
type KeyFlags = CredentialFlags & { readonly file?: string; readonly value?: string };
type AddFlags = KeyFlags & { readonly createSecret: boolean; readonly updateSecret: boolean };

export async function addSshKey(this: Context, flags: AddFlags, ...words: string[]): Promise<void> {
  const key = keyFrom(flags);
  if (flags.createSecret && flags.updateSecret) throw usage('--create-secret and --update-secret cannot be combined');
  if (flags.updateSecret && flags.secret === undefined) throw usage('--update-secret needs --secret');
  const connection = connect(this, flags);
  const vm = await machineOf(connection, machineName('credentials add-ssh-key', words));
  const tell = (text: string) => this.process.stdout.write(`${text}\n`);
  if (flags.createSecret) return tell(await addWithNewSecret(connection, { vm, key, flags }));
  const [name = ''] = flags.updateSecret ? [flags.secret] : chooseSecrets(vm, { what: 'keys', ...flags });
  const secret = await secretOf(connection, name);
  requireOwned(secret, vm, flags);
  const patch = addKey(secret.data ?? {}, key);
  if (patch) await connection.client.patch(SECRETS, secret.metadata, { data: patch });
  const isNew = flags.updateSecret && (await assign(connection, { vm, user: flags.user, secretName: name }));
  tell(`the key ${patch ? 'was added to' : 'is already in'} Secret ${name}${isNew ? `; ${LATER}` : ''}`);
}

export async function removeSshKey(this: Context, flags: KeyFlags, ...words: string[]): Promise<void> {
  const key = keyFrom(flags);
  const connection = connect(this, flags);
  const vm = await machineOf(connection, machineName('credentials remove-ssh-key', words));
  const secrets = await Promise.all(chooseSecrets(vm, { what: 'keys', ...flags }).map((name) => secretOf(connection, name)));
  const changes = secrets.flatMap((secret) => {
    const patch = removeKey(secret.data ?? {}, key);
    return patch ? [{ secret, patch }] : [];
  });
  if (changes.length === 0) throw new ApiError('NotFound', `the key is in none of the Secrets ${secrets.map(nameOf).join(', ')}`);
  for (const { secret } of changes) requireOwned(secret, vm, flags);
  for (const { secret, patch } of changes) {
    const { resourceVersion } = secret.metadata; // an entry is written as a whole
    await connection.client.patch(SECRETS, secret.metadata, { metadata: { resourceVersion }, data: patch });
    this.process.stdout.write(`the key was removed from Secret ${nameOf(secret)}\n`);
  }
}

export async function setPassword(
  this: Context,
  flags: CredentialFlags & { readonly password: string },
  ...words: string[]
): Promise<void> {
  const connection = connect(this, flags);
  const vm = await machineOf(connection, machineName('credentials set-password', words));
  const [name = ''] = chooseSecrets(vm, { what: 'passwords', ...flags });
  const secret = await secretOf(connection, name);
  requireOwned(secret, vm, flags);
  await connection.client.patch(SECRETS, secret.metadata, { data: { [flags.user]: encode(flags.password) } });
  this.process.stdout.write(`the password of ${flags.user} was set in Secret ${name}\n`);
}

const LATER = 'the machine takes it at its next start';

/** A running guest does not look at a Secret that its Pod did not start with, and whoever adds one should know. */
async function addWithNewSecret(
  connection: Connection,
  { vm, key, flags }: { vm: VirtualMachine; key: string; flags: AddFlags },
): Promise<string> {
  const { namespace, name: vmName, uid = '' } = vm.metadata;
  const isRunning = (await connection.client.get(VMIS, { namespace, name: vmName })) !== undefined;
  if (isRunning && !flags.force)
    throw new UserError('VM_RUNNING', `${vmName} runs, and would take a new Secret only at its next start`, {
      fix: `stop it first, or say --force and restart it later`,
      exitCode: 4,
    });
  const name = flags.secret ?? randomName(`${vmName}-ssh-key`);
  const ownerReferences = [{ apiVersion: vm.apiVersion, kind: vm.kind, name: vmName, uid }];
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name, ownerReferences },
    type: 'Opaque',
    data: addKey({}, key) as Record<string, string>,
  }; // nothing to take away
  await connection.client.create(SECRETS, secret);
  await assign(connection, { vm, user: flags.user, secretName: name });
  return `the key was added to the new Secret ${name}; ${LATER}`;
}

/** Makes the machine take keys from the Secret; false when it does already. */
async function assign(
  connection: Connection,
  { vm, user, secretName }: { vm: VirtualMachine; user: string; secretName: string },
): Promise<boolean> {
  const { accessCredentials = [] } = vm.spec.template.spec;
  const isThere = accessCredentials.some(
    ({ sshPublicKey }) =>
      sshPublicKey?.source?.secret?.secretName === secretName && sshPublicKey.propagationMethod?.qemuGuestAgent?.users?.includes(user),
  );
  if (isThere) return false;
  const sshPublicKey = { source: { secret: { secretName } }, propagationMethod: { qemuGuestAgent: { users: [user] } } };
  const template = { spec: { accessCredentials: [...accessCredentials, { sshPublicKey }] } };
  const { resourceVersion } = vm.metadata; // the list is written as a whole
  await connection.client.patch(VMS, vm.metadata, { metadata: { resourceVersion }, spec: { template } });
  return true;
}

async function machineOf({ client, namespace }: Connection, name: string): Promise<VirtualMachine> {
  const vm = await client.get(VMS, { namespace, name });
  if (vm) return vm;
  throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
}

async function secretOf({ client, namespace }: Connection, name: string): Promise<Secret> {
  const secret = await client.get(SECRETS, { namespace, name });
  if (secret) return secret;
  throw new ApiError('NotFound', `there is no Secret "${name}" in namespace ${namespace}`);
}

/** Other machines may take their keys from the same Secret. */
function requireOwned(secret: Secret, vm: VirtualMachine, { force }: CredentialFlags): void {
  if (force || secret.metadata.ownerReferences?.some(({ uid }) => uid === vm.metadata.uid)) return;
  throw new UserError('NOT_OWNED', `the Secret ${nameOf(secret)} does not belong to ${vm.metadata.name} alone`, {
    why: 'the machine is not among its owners, so others may use it, too',
    fix: 'say --force to change it all the same',
    exitCode: 4,
  });
}

function nameOf({ metadata }: Secret): string {
  return metadata.name;
}

function keyFrom({ file, value }: KeyFlags): string {
  if ((file === undefined) === (value === undefined)) throw usage('say the key with either --file or --value');
  return parsePublicKey(value ?? readInput(file ?? '').toString('utf8'));
}

function usage(message: string): UserError {
  return new UserError('USAGE', message, { exitCode: 2 });
}

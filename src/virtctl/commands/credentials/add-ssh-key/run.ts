/** Adds a key to the Secret from which the agent of a guest gets its keys. */
import { SECRETS, type Secret } from '../../../../api/core/secret.ts';
import { type VirtualMachine, VMS } from '../../../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { UserError } from '../../../../base/errors.ts';
import { randomName } from '../../../create/random-name.ts';
import { chooseSecrets } from '../../../credentials/choose-secrets.ts';
import { addKey } from '../../../credentials/keys.ts';
import { type KeyFlags, keyFrom, requireOwned, secretOf, vmOf } from '../../../credentials/secrets.ts';
import type { ClusterDeps, Connection } from '../../../deps.ts';
import { vmName } from '../../../vm-target.ts';

type AddFlags = KeyFlags & { readonly createSecret: boolean; readonly updateSecret: boolean };

const LATER = 'the machine takes it at its next start';

export async function run(deps: ClusterDeps, flags: AddFlags, ...words: string[]): Promise<void> {
  const key = keyFrom(flags);
  if (flags.createSecret && flags.updateSecret) throw usage('--create-secret and --update-secret cannot be combined');
  if (flags.updateSecret && flags.secret === undefined) throw usage('--update-secret needs --secret');
  const vm = await vmOf(deps, vmName('credentials add-ssh-key', words));
  const print = (text: string) => void deps.stdout.write(`${text}\n`);
  if (flags.createSecret) return print(await addWithNewSecret(deps, { vm, key, flags }));
  const [name = ''] = flags.updateSecret ? [flags.secret] : chooseSecrets(vm, { what: 'keys', ...flags });
  const secret = await secretOf(deps, name);
  requireOwned(secret, vm, flags);
  const patch = addKey(secret.data ?? {}, key);
  if (patch) await deps.client.patch(SECRETS, secret.metadata, { data: patch });
  const isNew = flags.updateSecret && (await assign(deps, { vm, user: flags.user, secretName: name }));
  print(`the key ${patch ? 'was added to' : 'is already in'} Secret ${name}${isNew ? `; ${LATER}` : ''}`);
}

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

function usage(message: string): UserError {
  return new UserError('USAGE', message, { exitCode: 2 });
}

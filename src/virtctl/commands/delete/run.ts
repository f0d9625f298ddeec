/** Deletes machines: says what goes with each and what stays, asks whoever sits at a terminal, and leaves no other way to lose a disk. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { type VirtualMachine, VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { controllerOf } from '../../../api/meta.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { claimNamesOf, diskFates } from '../../../sdk/disk-fates.ts';
import { canAsk, confirm } from '../../confirm.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { vmTargets } from '../../vm-target.ts';

type Going = { readonly vm: VirtualMachine; readonly claims: readonly PersistentVolumeClaim[] };

export async function run(deps: ClusterDeps, flags: ConnectionFlags & { readonly yes: boolean }, ...words: string[]): Promise<void> {
  const { client, stdout, stderr } = deps;
  // All are looked up before the first one goes: a name that is wrong deletes nothing.
  const going = await Promise.all(namesOfVms(words).map((name) => lookUp(deps, name)));
  if (!flags.yes && canAsk(deps)) {
    stderr.write(going.map(describe).join(''));
    if (!(await confirm(deps, going.length === 1 ? 'Delete it?' : 'Delete them?')))
      throw new UserError('NOT_CONFIRMED', 'nothing was deleted', { fix: 'virtctl stop NAME stops a machine and keeps it' });
  }
  for (const { vm } of going) {
    await client.delete(VMS, vm.metadata, { uid: vm.metadata.uid });
    stdout.write(`VM ${vm.metadata.name} was deleted\n`);
  }
}

/** An instance, or one of the old kinds, is something else than the VM of the same name with its disks. */
function namesOfVms(words: readonly string[]): readonly string[] {
  const targets = vmTargets('delete', words);
  const others = targets.flatMap(({ kind, name }) => (kind === undefined || kind === 'vm' ? [] : `kubectl delete ${kind} ${name}`));
  if (others.length > 0)
    throw new UserError('USAGE', 'virtctl delete deletes VMs, with their disks, and no other kind', {
      why: `another kind was said: ${words.join(' ')}; nothing was deleted`,
      fix: others.join('; '),
      exitCode: 2,
    });
  return targets.map(({ name }) => name);
}

async function lookUp({ client, namespace }: ClusterDeps, name: string): Promise<Going> {
  const vm = await client.get(VMS, { namespace, name });
  if (!vm) throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
  const keeper = controllerOf(vm);
  if (keeper)
    throw new UserError('VM_KEPT', `${name} belongs to the ${keeper.kind} ${keeper.name}, which would make it again`, {
      fix: `kubectl delete ${keeper.kind.toLowerCase()} ${keeper.name}`,
      exitCode: 4,
    });
  const claims = await Promise.all(claimNamesOf(vm).map((each) => client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: each })));
  return { vm, claims: claims.filter((claim) => claim !== undefined) };
}

function describe({ vm, claims }: Going): string {
  const lines = diskFates(vm, claims).map(({ name, size, isLost, folder }) =>
    folder === undefined ? `    disk ${name} (${size}) ${isLost ? 'goes with it' : 'stays'}\n` : `    folder ${folder} stays\n`,
  );
  return `  ${vm.metadata.name} (${vm.status?.printableStatus ?? 'Stopped'}) will be deleted for good\n${lines.join('')}`;
}

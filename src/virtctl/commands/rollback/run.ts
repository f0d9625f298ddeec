/** Makes a stopped machine what it was: makes a VirtualMachineRestore and waits until it is complete. One whose memory was kept goes on. */
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type VirtualMachineRestore, VM_RESTORES } from '../../../api/kubevirt/kinds/vm-restore.ts';
import { FINALIZER_VM_RESTORE } from '../../../api/kubevirt/names.ts';
import { conditionOf, hasCondition } from '../../../api/meta.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { newRestore } from '../../../sdk/manifest/snapshot.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { callVm } from '../../lifecycle/call-subresource.ts';
import { snapshotsOf } from '../../snapshot/snapshots-of.ts';
import { waitFor } from '../../snapshot/wait-for.ts';
import { vmName } from '../../vm-target.ts';

export async function run(deps: ClusterDeps, flags: ConnectionFlags, machine: string, wanted?: string): Promise<void> {
  const { client, namespace, clock, stdout } = deps;
  const vm = vmName('rollback', [machine]);
  const [target, vmi] = await Promise.all([client.get(VMS, { namespace, name: vm }), client.get(VMIS, { namespace, name: vm })]);
  if (!target) throw new ApiError('NotFound', `there is no virtual machine "${vm}" in namespace ${namespace}`);
  const { name: snapshot, hasMemory } = await choose(deps, vm, wanted);
  if (vmi && !isFinal(vmi))
    throw new UserError('VM_RUNNING', `${vm} cannot become what it was while it runs`, {
      why: 'its guest would keep writing to the disks that it has now',
      fix: `virtctl stop ${vm}, then virtctl rollback ${vm} ${snapshot}`,
      exitCode: 4,
    });
  const restore = newRestore({ namespace, vm, snapshot, nowMs: clock.now() });
  await client.create(VM_RESTORES, restore);
  const { status } = await waitFor<VirtualMachineRestore>(deps, {
    resource: VM_RESTORES,
    name: restore.metadata.name,
    isOver: ({ metadata, status }) =>
      (status?.complete === true && !(hasMemory && metadata.finalizers?.includes(FINALIZER_VM_RESTORE))) ||
      hasCondition(status?.conditions, 'Failure'),
    whyNot: (restore) => conditionOf(restore.status?.conditions, 'Progressing')?.message,
  });
  const failure = conditionOf(status?.conditions, 'Failure')?.message;
  if (failure !== undefined)
    throw new UserError('ROLLBACK_FAILED', `${vm} is as it was before, and not as in ${snapshot}`, {
      why: failure,
      fix: `virtctl snapshots ${vm}`,
    });
  const claims = (status?.restores ?? []).map((each) => `${each.volumeName} (PVC ${each.persistentVolumeClaim})`);
  stdout.write(`${vm} is what it was in ${snapshot}${claims.length > 0 ? `, with new disks: ${claims.join(', ')}` : ''}\n`);
  if (hasMemory) await callVm(deps, { verb: 'resume', flags: { ...flags, dryRun: false }, words: [vm], body: {} });
}

type Chosen = { readonly name: string; readonly hasMemory: boolean };

async function choose(deps: ClusterDeps, vm: string, wanted: string | undefined): Promise<Chosen> {
  const whole = (await snapshotsOf(deps, vm)).filter(({ status }) => status?.readyToUse);
  const ready = whole.map(({ metadata }) => metadata.name);
  const found = wanted === undefined ? whole.at(-1) : whole.find(({ metadata }) => metadata.name === wanted);
  if (found !== undefined) return { name: found.metadata.name, hasMemory: found.spec.memory === true };
  throw new UserError('NO_SNAPSHOT', wanted === undefined ? `nothing is kept of ${vm}` : `${vm} has no whole snapshot "${wanted}"`, {
    why: ready.length > 0 ? `it has ${ready.join(', ')}` : 'no snapshot of it is whole',
    fix: ready.length > 0 ? `virtctl rollback ${vm} ${ready.at(-1)}` : `virtctl snapshot ${vm} keeps it as it is now`,
    exitCode: 4,
  });
}

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
import { untilInterrupted } from '../image/interruptible.ts';

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
  if (target.status?.suspension)
    throw new UserError('VM_SUSPENDED', `${vm} cannot become what it was while it is suspended`, {
      why: 'its memory knows the disks that it has now',
      fix: `virtctl stop ${vm}, which throws its memory away, then virtctl rollback ${vm} ${snapshot}; or virtctl resume ${vm}`,
      exitCode: 4,
    });
  const restore = newRestore({ namespace, vm, snapshot, nowMs: clock.now() });
  await client.create(VM_RESTORES, restore);
  const { status } = await untilOver(deps, { restore, hasMemory });
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

/** Whoever interrupts it does not want it later, when the machine is stopped the next time: a restore that waits is taken back. */
async function untilOver(
  deps: ClusterDeps,
  { restore, hasMemory }: { readonly restore: VirtualMachineRestore; readonly hasMemory: boolean },
): Promise<VirtualMachineRestore> {
  const { client, namespace } = deps;
  const { name } = restore.metadata;
  try {
    return await untilInterrupted(deps, 'it was what it was: virtctl snapshots shows what is kept', (signal) =>
      waitFor<VirtualMachineRestore>(deps, {
        resource: VM_RESTORES,
        name,
        isOver: ({ metadata, status }) =>
          (status?.complete === true && !(hasMemory && metadata.finalizers?.includes(FINALIZER_VM_RESTORE))) ||
          hasCondition(status?.conditions, 'Failure'),
        whyNot: (found) => conditionOf(found.status?.conditions, 'Progressing')?.message,
        signal,
      }),
    );
  } catch (error) {
    if (error instanceof UserError && error.code === 'INTERRUPTED') await client.delete(VM_RESTORES, { namespace, name });
    throw error;
  }
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

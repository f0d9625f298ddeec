/** Keeps a machine and its disks as they are now: makes a VirtualMachineSnapshot and waits until it is whole. */
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineSnapshot, VM_SNAPSHOTS } from '../../../api/kubevirt/kinds/vm-snapshot.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { newSnapshot, snapshotName } from '../../../sdk/manifest/snapshot.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { waitFor } from '../../snapshot/wait-for.ts';
import { vmName } from '../../vm-target.ts';

type SnapshotFlags = ConnectionFlags & { readonly memory: boolean };

export async function run(deps: ClusterDeps, { memory: hasMemory }: SnapshotFlags, machine: string, said?: string): Promise<void> {
  const { client, namespace, clock, stdout } = deps;
  const vm = vmName('snapshot', [machine]);
  if (!(await client.get(VMS, { namespace, name: vm })))
    throw new ApiError('NotFound', `there is no virtual machine "${vm}" in namespace ${namespace}`);
  const name = said ?? snapshotName(vm, clock.now());
  await client.create(VM_SNAPSHOTS, newSnapshot({ namespace, vm, name, hasMemory }));
  const { status } = await waitFor<VirtualMachineSnapshot>(deps, {
    resource: VM_SNAPSHOTS,
    name,
    isOver: (snapshot) => snapshot.status?.phase === 'Succeeded' || snapshot.status?.phase === 'Failed',
    whyNot: (snapshot) => snapshot.status?.error?.message,
  });
  if (status?.phase === 'Failed')
    throw new UserError('SNAPSHOT_FAILED', `no snapshot was taken of ${vm}`, {
      why: status.error?.message ?? 'virt-controller does not say why',
      fix: `kubectl delete vmsnapshot ${name} -n ${namespace}, and take another one`,
    });
  const disks = status?.snapshotVolumes?.includedVolumes ?? [];
  stdout.write(`${vm} is kept as ${name}: ${disks.length > 0 ? `disks ${disks.join(', ')}` : 'no disks of its own'}${howText(status)}\n`);
}

function howText(status: VirtualMachineSnapshot['status']): string {
  const how = new Set(status?.indications ?? []);
  if (how.has('Memory')) return ', with its memory';
  if (how.has('Paused')) return ', while it was paused';
  if (how.has('GuestAgent')) return ', while its file systems were frozen';
  return how.has('Online') ? ', as if its power had failed: no agent could freeze it' : '';
}

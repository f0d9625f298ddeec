/** The snapshots of one machine. */
import { type VirtualMachineSnapshot, VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { snapshotsOfMachine } from '../../sdk/manifest/snapshot.ts';
import type { ClusterDeps } from '../deps.ts';

/** From the oldest to the newest. */
export async function snapshotsOf({ client, namespace }: ClusterDeps, machine: string): Promise<readonly VirtualMachineSnapshot[]> {
  return snapshotsOfMachine((await client.list(VM_SNAPSHOTS, { namespace })).items, machine);
}

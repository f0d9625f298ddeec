/** The snapshots of one machine. */
import { type VirtualMachineSnapshot, VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { ClusterDeps } from '../deps.ts';

/** From the oldest to the newest. */
export async function snapshotsOf({ client, namespace }: ClusterDeps, machine: string): Promise<readonly VirtualMachineSnapshot[]> {
  const { items } = await client.list(VM_SNAPSHOTS, { namespace });
  return items.filter(({ spec }) => spec.source.name === machine).sort((a, b) => whenOf(a).localeCompare(whenOf(b)));
}

/** The moment that it is of; before that is known, when it was asked for. */
export function whenOf({ metadata, status }: VirtualMachineSnapshot): string {
  return status?.creationTime ?? metadata.creationTimestamp ?? '';
}

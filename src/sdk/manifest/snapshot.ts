/** What keeps a machine as it is, and what makes it so again; as the command line and the web page ask for it. Pure. */
import { type VirtualMachineRestore, VM_RESTORES } from '../../api/kubevirt/kinds/vm-restore.ts';
import { type VirtualMachineSnapshot, VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { apiVersionOf } from '../../api/resource.ts';

type Of = { readonly namespace: string; readonly vm: string };

/** A name for a snapshot that is taken now. */
export function snapshotName(vm: string, nowMs: number): string {
  return `${vm}-${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase()}`;
}

type Wanted = Of & { readonly name: string; readonly hasMemory?: boolean };

export function newSnapshot({ namespace, vm, name, hasMemory = false }: Wanted): VirtualMachineSnapshot {
  return {
    apiVersion: apiVersionOf(VM_SNAPSHOTS),
    kind: 'VirtualMachineSnapshot',
    metadata: { namespace, name },
    spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: vm }, ...(hasMemory && { memory: true }) },
  };
}

/** One of its own for each try. */
export function newRestore({
  namespace,
  vm,
  snapshot,
  nowMs,
}: Of & { readonly snapshot: string; readonly nowMs: number }): VirtualMachineRestore {
  return {
    apiVersion: apiVersionOf(VM_RESTORES),
    kind: 'VirtualMachineRestore',
    metadata: { namespace, name: `${snapshot.slice(0, 50)}-${nowMs.toString(36)}` },
    spec: { target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: vm }, virtualMachineSnapshotName: snapshot },
  };
}

/** Those of one machine, from the oldest to the newest. */
export function snapshotsOfMachine(snapshots: readonly VirtualMachineSnapshot[], vm: string): VirtualMachineSnapshot[] {
  return snapshots.filter(({ spec }) => spec.source.name === vm).sort((a, b) => momentOf(a).localeCompare(momentOf(b)));
}

/** The moment that it is of; before that is known, when it was asked for. */
export function momentOf({ metadata, status }: VirtualMachineSnapshot): string {
  return status?.creationTime ?? metadata.creationTimestamp ?? '';
}

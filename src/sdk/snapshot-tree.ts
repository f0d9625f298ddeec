/**
 * Which snapshot was taken after which. Those that follow one another are beneath one another; what was taken after a rollback begins a branch beneath
 * the snapshot that was rolled back to, further to the right. Pure.
 */
import type { VirtualMachineRestore } from '../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../api/kubevirt/kinds/vm-snapshot-content.ts';
import { ANNOTATION_LAST_RESTORE } from '../api/kubevirt/names.ts';
import { parseQuantity } from '../base/quantity.ts';

type Seen = {
  /** From the oldest to the newest. */
  readonly snapshots: readonly VirtualMachineSnapshot[];
  readonly contents: readonly VirtualMachineSnapshotContent[];
  readonly restores: readonly VirtualMachineRestore[];
};
export type SnapshotRow = {
  readonly snapshot: VirtualMachineSnapshot;
  /** What stands before its name. */
  readonly indent: string;
  /** Of the disks and the memory that are kept; undefined where nothing is. */
  readonly sizeBytes: number | undefined;
};

/** All of them, each after the one that it was taken after. */
export function snapshotTree({ snapshots, contents, restores }: Seen): SnapshotRow[] {
  const contentBy = new Map(contents.map((content) => [content.metadata.name, content]));
  const restoredBy = new Map(restores.map(({ metadata, spec }) => [metadata.uid, spec.virtualMachineSnapshotName]));
  const contentOf = ({ status }: VirtualMachineSnapshot) => contentBy.get(status?.virtualMachineSnapshotContentName ?? '');
  // By the restore that was the last one of the machine when they were taken.
  const branches = new Map<string, VirtualMachineSnapshot[]>();
  for (const snapshot of snapshots) {
    const uid = contentOf(snapshot)?.spec.source.virtualMachine?.metadata.annotations?.[ANNOTATION_LAST_RESTORE] ?? '';
    branches.set(uid, [...(branches.get(uid) ?? []), snapshot]);
  }
  const order = new Map(snapshots.map(({ metadata }, index) => [metadata.name, index]));
  const beneath = new Map<string, string[]>();
  for (const [uid, [first]] of branches) {
    const after = restoredBy.get(uid) ?? '';
    const isEarlier = (order.get(after) ?? Number.POSITIVE_INFINITY) < (order.get(first?.metadata.name ?? '') ?? 0);
    const place = isEarlier ? after : ''; // one that is gone, or whose name another has got
    beneath.set(place, [...(beneath.get(place) ?? []), uid]);
  }
  const rowsOf = (uid: string, depth: number): SnapshotRow[] =>
    (branches.get(uid) ?? []).flatMap((snapshot, index) => [
      { snapshot, indent: indentOf(depth, index === 0), sizeBytes: sizeOf(contentOf(snapshot)) },
      ...(beneath.get(snapshot.metadata.name) ?? []).flatMap((each) => rowsOf(each, depth + 1)),
    ]);
  return (beneath.get('') ?? []).flatMap((uid) => rowsOf(uid, 0));
}

function indentOf(depth: number, isFirst: boolean): string {
  if (depth === 0) return '';
  return `${'   '.repeat(depth - 1)}${isFirst ? '└─ ' : '   '}`;
}

function sizeOf(content: VirtualMachineSnapshotContent | undefined): number | undefined {
  if (!content) return undefined;
  const { volumeBackups = [], memory } = content.spec;
  const sizes = volumeBackups.map(({ persistentVolumeClaim: { spec } }) => parseQuantity(spec.resources?.requests?.['storage'] ?? 0) ?? 0);
  return sizes.reduce((sum, bytes) => sum + bytes, memory?.bytes ?? 0);
}

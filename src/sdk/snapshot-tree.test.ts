import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachineRestore } from '../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../api/kubevirt/kinds/vm-snapshot-content.ts';
import { ANNOTATION_LAST_RESTORE } from '../api/kubevirt/names.ts';
import { snapshotTree } from './snapshot-tree.ts';

/** Snapshots in the order in which they were taken, with the restore that the machine had seen last. */
function treeOf(taken: readonly (readonly [name: string, restore?: string])[], restores: Readonly<Record<string, string>> = {}) {
  const snapshots = taken.map(([name]) => ({ metadata: { name }, status: { virtualMachineSnapshotContentName: `c-${name}` } }));
  const claim = { metadata: {}, spec: { resources: { requests: { storage: '1Gi' } } } };
  const contents = taken.map(([name, restore]) => ({
    metadata: { name: `c-${name}` },
    spec: {
      source: { virtualMachine: { metadata: { annotations: restore === undefined ? {} : { [ANNOTATION_LAST_RESTORE]: restore } } } },
      volumeBackups: [{ persistentVolumeClaim: claim }, { persistentVolumeClaim: claim }],
    },
  }));
  const made = Object.entries(restores).map(([uid, of]) => ({ metadata: { uid }, spec: { virtualMachineSnapshotName: of } }));
  return snapshotTree({
    snapshots: snapshots as unknown as VirtualMachineSnapshot[],
    contents: contents as unknown as VirtualMachineSnapshotContent[],
    restores: made as unknown as VirtualMachineRestore[],
  });
}
const shown = (...args: Parameters<typeof treeOf>) => treeOf(...args).map(({ snapshot, indent }) => `${indent}${snapshot.metadata.name}`);

test('what was taken one after another is one beneath another', () => {
  assert.deepEqual(shown([['a'], ['b'], ['c']]), ['a', 'b', 'c']);
});

test('what was taken after a rollback is a branch of the one that was rolled back to', () => {
  const taken = [['a'], ['b'], ['c', 'r1'], ['d', 'r1'], ['e', 'r2'], ['f', 'r3']] as const;
  assert.deepEqual(shown(taken, { r1: 'a', r2: 'c', r3: 'a' }), ['a', '└─ c', '   └─ e', '   d', '└─ f', 'b']);
});

test('a rollback that nobody knows any more, or to a later one of that name, begins at the left', () => {
  assert.deepEqual(shown([['a'], ['b', 'gone'], ['c', 'r1'], ['d']], { r1: 'd' }), ['a', 'd', 'b', 'c']);
});

test('the size is that of all disks', () => {
  assert.deepEqual(
    treeOf([['a']]).map(({ sizeBytes }) => sizeBytes),
    [2 * 2 ** 30],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateBackup, validateBackupTracker } from './validate-backup.ts';

const vm = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' };
const tracker = { apiGroup: 'backup.kubevirt.io', kind: 'VirtualMachineBackupTracker', name: 'nightly' };
const fieldsOf = (causes: readonly { field?: string }[]) => causes.map(({ field }) => field);

test('a backup is of a machine or a tracker, to a PVC', () => {
  for (const source of [vm, tracker]) assert.deepEqual(validateBackup({ spec: { source, pvcName: 'backups', mode: 'Push' } }), []);
  assert.deepEqual(fieldsOf(validateBackup({ spec: { source: { ...tracker, apiGroup: 'kubevirt.io' } } })), [
    'spec.source.apiGroup',
    'spec.pvcName',
  ]);
  assert.deepEqual(fieldsOf(validateBackup({ spec: { source: { kind: 'Pod' }, pvcName: 'b' } })), ['spec.source.kind']);
  assert.deepEqual(fieldsOf(validateBackup({})), ['spec.source']);
});

test('one that is fetched is refused by the name of its mode, with the reason', () => {
  const [cause] = validateBackup({ spec: { source: vm, pvcName: 'backups', mode: 'Pull' } });
  assert.deepEqual([cause?.field, cause?.message?.includes('use Push to a PVC')], ['spec.mode', true]);
});

test('a tracker is of a machine', () => {
  assert.deepEqual(validateBackupTracker({ spec: { source: vm } }), []);
  assert.deepEqual(fieldsOf(validateBackupTracker({ spec: { source: tracker } })), ['spec.source.kind']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateExport } from './validate-export.ts';

const fieldsOf = (spec: unknown) => validateExport({ spec }).map(({ field }) => field);
const pvc = { apiGroup: '', kind: 'PersistentVolumeClaim', name: 'disk' };

test('PVCs, machines and snapshots can be exported', () => {
  for (const source of [
    pvc,
    { kind: 'PersistentVolumeClaim', name: 'disk' },
    { apiGroup: 'v1', kind: 'PersistentVolumeClaim', name: 'disk' },
    { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' },
    { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: 'before' },
  ])
    assert.deepEqual(fieldsOf({ source, ttlDuration: '30m', tokenSecretRef: 'token' }), []);
});

test('every mistake is told with its field', () => {
  assert.deepEqual(fieldsOf(undefined), ['spec.source']);
  assert.deepEqual(fieldsOf({ source: { apiGroup: 'backup.kubevirt.io', kind: 'VirtualMachineBackup', name: 'x' } }), ['spec.source.kind']);
  assert.deepEqual(fieldsOf({ source: { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachine', name: 'x' } }), ['spec.source.apiGroup']);
  assert.deepEqual(
    fieldsOf({ source: { apiGroup: '', kind: 'PersistentVolumeClaim', name: '../x' }, ttlDuration: 'soon', tokenSecretRef: 'A_b' }),
    ['spec.source.name', 'spec.tokenSecretRef', 'spec.ttlDuration'],
  );
  assert.deepEqual(fieldsOf({ source: pvc, ttlDuration: '0' }), ['spec.ttlDuration']);
});

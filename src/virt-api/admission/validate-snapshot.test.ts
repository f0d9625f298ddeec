import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateRestore, validateSameSpec, validateSnapshot } from './validate-snapshot.ts';

const machine = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' };
const fieldsOf = (causes: readonly { field?: string }[]) => causes.map(({ field }) => field);

test('a snapshot is of a machine, within a time', () => {
  assert.deepEqual(validateSnapshot({ spec: { source: machine, failureDeadline: '1m' } }), []);
  const wrong = { source: { apiGroup: 'apps', kind: 'Pod', name: '' }, failureDeadline: 'soon' };
  assert.deepEqual(fieldsOf(validateSnapshot({ spec: wrong })), [
    'spec.source.apiGroup',
    'spec.source.kind',
    'spec.source.name',
    'spec.failureDeadline',
  ]);
  assert.deepEqual(fieldsOf(validateSnapshot({})), ['spec.source']);
});

test('a restore is of a machine, from a snapshot', () => {
  assert.deepEqual(validateRestore({ spec: { target: machine, virtualMachineSnapshotName: 'before' } }), []);
  assert.deepEqual(fieldsOf(validateRestore({ spec: { target: machine } })), ['spec.virtualMachineSnapshotName']);
  assert.deepEqual(fieldsOf(validateRestore({})), ['spec.target']);
});

test('lines for single volumes are one for each, and do not name what keeps its name', () => {
  const said = (volumeRestoreOverrides: object[], volumeRestorePolicy?: string) =>
    fieldsOf(
      validateRestore({ spec: { target: machine, virtualMachineSnapshotName: 's', volumeRestoreOverrides, volumeRestorePolicy } as never }),
    );
  const [name, labels] = [
    { volumeName: 'a', restoreName: 'mine' },
    { volumeName: 'a', labels: { x: 'y' } },
  ];
  assert.deepEqual([said([name]), said([labels], 'InPlace')], [[], []]);
  assert.deepEqual(said([name, labels]), ['spec.volumeRestoreOverrides[1].volumeName']);
  assert.deepEqual(
    [said([name], 'InPlace'), said([{ ...name, restoreName: 'A b' }])].flat(),
    Array(2).fill('spec.volumeRestoreOverrides[0].restoreName'),
  );
});

test('neither becomes another one', () => {
  const of = (name: string) => ({ metadata: { name: 'x' }, spec: { source: { ...machine, name } } }) as never;
  assert.deepEqual(validateSameSpec({ object: of('db'), oldObject: of('db') }), []);
  assert.deepEqual(fieldsOf(validateSameSpec({ object: of('web'), oldObject: of('db') })), ['spec']);
});

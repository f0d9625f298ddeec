import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import type { DataVolume } from '../api/kubevirt/kinds/data-volume.ts';
import { tinySpec, vm } from '../testing/builders.ts';
import { deleteCommand, deleteRefusal, deriveImageRows, deriveUsedImages, importedVolume, isSize, nameOfAddress } from './derive-images.ts';
import { deriveMachines } from './derive-machines.ts';

const WISH = { namespace: 'default', name: 'debian', url: 'https://host/debian.qcow2', size: '10Gi', checksum: '' };
const volume = (status: DataVolume['status']): DataVolume => ({ ...importedVolume(WISH), ...(status && { status }) });
const claim = (name: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'default', name },
  spec: {},
  status: { phase: 'Bound', capacity: { storage: '11Gi' } },
});
const only = (status: DataVolume['status']) => deriveImageRows([volume(status)], [], [])[0] ?? assert.fail('there is one');

test('a DataVolume and its claim are one row, a claim of its own another', () => {
  const rows = deriveImageRows([volume({ phase: 'Succeeded', progress: '100.0%' })], [claim('debian'), claim('data')], []);
  assert.deepEqual(
    rows.map(({ kind, name, size, phase, tone, share, source }) => [kind, name, size, phase, tone, share, source]),
    [
      ['DataVolume', 'debian', '11Gi', 'Succeeded', 'good', undefined, 'https://host/debian.qcow2'],
      ['PersistentVolumeClaim', 'data', '11Gi', 'Bound', 'good', undefined, '–'],
    ],
  );
});

test('what is being filled says how far it is, what failed says why, and what nobody knows is not a number', () => {
  assert.equal(only({ phase: 'ImportInProgress', progress: '43.50%' }).share, 0.435);
  assert.equal(only({ phase: 'ImportScheduled', progress: 'N/A' }).share, undefined);
  const conditions = [{ type: 'Running', status: 'False' as const, reason: 'Error', message: 'the address answers with 404' }];
  assert.deepEqual(
    [only({ phase: 'ImportInProgress', conditions }).tone, only({ phase: 'ImportInProgress', conditions }).trouble],
    ['bad', 'the address answers with 404'],
  );
});

test('what a machine has as a disk is not deleted', () => {
  const machine = vm('Always');
  const spec = { ...tinySpec, volumes: [{ name: 'd', dataVolume: { name: 'debian' } }] };
  const machines = deriveMachines([{ ...machine, spec: { ...machine.spec, template: { spec } } }], []);
  const [row] = deriveImageRows([volume(undefined)], [], machines);
  assert.ok(row);
  assert.deepEqual(
    [deleteRefusal(row), deleteRefusal(only(undefined)), deleteCommand(row)],
    ['a disk of db', undefined, 'kubectl delete dv debian'],
  );
});

test('an address gives a name, and images are counted', () => {
  for (const [url, name] of [
    ['https://x/y/Debian_12.generic.qcow2.xz?a=1', 'debian-12-generic'],
    ['https://x/', 'x'],
    ['', ''],
  ] as const)
    assert.equal(nameOfAddress(url), name, url);
  assert.deepEqual([isSize('10Gi'), isSize('much'), isSize('0')], [true, false, false]);
  assert.deepEqual(deriveUsedImages(deriveMachines([vm('Always')], [])), [{ image: 'localhost/guests/tiny:latest', count: 1 }]);
});

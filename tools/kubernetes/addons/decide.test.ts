import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/api/core/volume.ts';
import type { VolumeSnapshot } from '../../../src/api/core/volume-snapshot.ts';
import { decideSteps, type Step, volumeFor } from './decide.ts';

const claim = (spec: object = {}, phase: 'Pending' | 'Bound' = 'Pending'): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'shop', uid: 'u1' },
  spec: { storageClassName: 'local', accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Mi' } }, ...spec },
  status: { phase },
});
const make = (of = claim()): Step & { do: 'make' } => ({ do: 'make', claim: of, name: 'pvc-u1', bytes: 1024 ** 2, isBlock: false });
const made = (phase: 'Bound' | 'Released', spec: object = {}): PersistentVolume => {
  const volume = volumeFor(make(), '/x', []);
  return { ...volume, spec: { ...volume.spec, ...spec }, status: { phase } };
};

test('a claim of the class gets a volume, once', () => {
  assert.deepEqual(decideSteps([claim()], []), [make()]);
  assert.deepEqual(decideSteps([claim()], [made('Bound')]), []);
  assert.deepEqual(decideSteps([claim({}, 'Bound')], []), []);
});

test('claims of other classes, and those that name a volume, are left alone', () => {
  for (const spec of [{ storageClassName: 'fast' }, { storageClassName: '' }, { volumeName: 'mine' }, { selector: {} }]) {
    assert.deepEqual(decideSteps([claim(spec)], []), []);
  }
});

test('a volume goes with its data when it is released, unless it is to be kept or is not ours', () => {
  const released = made('Released');
  assert.deepEqual(decideSteps([], [released]), [{ do: 'remove', volume: released }]);
  assert.deepEqual(decideSteps([], [made('Bound')]), []);
  assert.deepEqual(decideSteps([], [made('Released', { persistentVolumeReclaimPolicy: 'Retain' })]), []);
  assert.deepEqual(decideSteps([], [{ ...released, metadata: { name: 'pvc-u1' } }]), []);
});

test('a block volume is a device on every node', () => {
  const { spec } = volumeFor({ ...make(), isBlock: true }, '/dev/loop3', ['node1', 'node2']);
  assert.deepEqual(
    { mode: spec.volumeMode, local: (spec as { local?: object }).local, hostPath: spec.hostPath },
    { mode: 'Block', local: { path: '/dev/loop3' }, hostPath: undefined },
  );
});

test('a claim that begins as a snapshot waits until that is ready, and is a copy of it', () => {
  const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'before' };
  const snapshot = (readyToUse: boolean): VolumeSnapshot => ({
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: { name: 'before', namespace: 'shop', uid: 's1' },
    spec: { source: { persistentVolumeClaimName: 'data' } },
    status: { readyToUse },
  });
  const wanting = claim({ dataSource });
  assert.deepEqual(decideSteps([wanting], [], []), []);
  assert.deepEqual(decideSteps([wanting], [], [snapshot(false)]), []);
  assert.deepEqual(decideSteps([wanting], [], [snapshot(true)]), [{ ...make(wanting), from: 'snapshot-s1' }]);
});

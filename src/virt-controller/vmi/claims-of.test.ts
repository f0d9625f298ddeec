import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import type { Client } from '../../client/client.ts';
import { dataVolume } from '../data-volume/data-volume.testing.ts';
import { unfilledClaimsOf } from './claims-of.ts';

function claim(owner: string | undefined, annotations: Record<string, string> = {}): PersistentVolumeClaim {
  const reference = { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', name: 'root', uid: owner ?? '', controller: true };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'root', namespace: 'default', annotations, ...(owner && { ownerReferences: [reference] }) },
    spec: {},
  };
}
const unfilled = async (found: DataVolume | undefined, ...of: Parameters<typeof claim>) => [
  ...(await unfilledClaimsOf({ get: async () => found } as unknown as Client, new Map([['root', claim(...of)]]))),
];

test('a claim that is being filled is not started from, by whichever name it is used', async () => {
  assert.deepEqual(await unfilled(dataVolume('ImportInProgress'), 'dv-1'), ['root']);
  assert.deepEqual(await unfilled(undefined, 'dv-1'), ['root'], 'its DataVolume is gone, and so will it be');
  assert.deepEqual(await unfilled(dataVolume('Succeeded'), 'dv-0'), ['root'], 'another DataVolume of that name');
});

test('a claim that is filled, or that nobody fills, is', async () => {
  assert.deepEqual(await unfilled(dataVolume('Succeeded'), 'dv-1'), []);
  assert.deepEqual(await unfilled(dataVolume('ImportInProgress'), undefined), []);
  assert.deepEqual(await unfilled(undefined, 'dv-1', { 'cdi.kubevirt.io/storage.pod.phase': 'Succeeded' }), []);
});

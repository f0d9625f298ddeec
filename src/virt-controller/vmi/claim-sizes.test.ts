import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { vmi } from '../../testing/builders.ts';
import { handFedCache } from '../../testing/hand-fed-cache.ts';
import { byClaim, instancesWith, sizesOnly, withClaimSizes } from './claim-sizes.ts';

const claim = (storage: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'default', name: 'data', uid: 'u', annotations: { much: 'text' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  status: { phase: 'Bound', capacity: { storage } },
});
const info = { claimName: 'data', capacity: { storage: '1Gi' }, requests: { storage: '1Gi' }, volumeMode: 'Filesystem' } as const;
const entries = [
  { name: 'data', target: 'vdb', size: 7, persistentVolumeClaimInfo: info },
  { name: 'root', target: 'vda' },
];

test('of a PVC its sizes alone are kept', () => {
  const { metadata, spec, status } = sizesOnly(claim('1Gi'));
  assert.deepEqual(Object.keys(metadata), ['namespace', 'name', 'uid', 'resourceVersion']);
  assert.deepEqual([spec, status], [{ resources: { requests: { storage: '1Gi' } } }, { capacity: { storage: '1Gi' } }]);
});

test('a PVC that has grown is told to its volume, and nothing else changes', () => {
  const grown = { ...info, capacity: { storage: '2Gi' }, requests: { storage: '2Gi' } };
  const [data, root] = withClaimSizes(entries, new Map([['data', claim('2Gi')]])) ?? [];
  assert.deepEqual([data, root], [{ ...entries[0], persistentVolumeClaimInfo: grown }, entries[1]]);
});

test('as long as nothing has grown, or the PVC is not there, the volumes are as they were', () => {
  for (const sizes of [undefined, new Map([['data', claim('1Gi')]]), new Map([['data', undefined]])])
    assert.deepEqual(withClaimSizes(entries, sizes), entries);
});

test('a PVC wakes the instances that use it', () => {
  const vmis = handFedCache(VMIS, byClaim);
  const machine = vmi('Running');
  vmis.put({ ...machine, spec: { ...machine.spec, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] } });
  const other = { ...claim('1Gi'), metadata: { namespace: 'other', name: 'data' } };
  assert.deepEqual([instancesWith(vmis, claim('1Gi')), instancesWith(vmis, other)], [['default/db'], []]);
});

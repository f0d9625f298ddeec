import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { volumeStatusOf } from './volume-status.ts';

const claim: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  status: { phase: 'Bound', capacity: { storage: '2Gi' } },
};
const spec = (disks: NonNullable<VmiSpec['domain']['devices']['disks']>, volumes: VmiSpec['volumes']): VmiSpec => ({
  domain: { devices: { disks } },
  ...(volumes && { volumes }),
});

test('volumes are told by name, with what the guest calls them and the claim behind', () => {
  const status = volumeStatusOf(
    spec(
      [
        { name: 'root', disk: { bus: 'virtio' } },
        { name: 'cd', cdrom: { bus: 'sata' } },
        { name: 'more', disk: { bus: 'virtio' } },
      ],
      [
        { name: 'root', containerDisk: { image: 'x' } },
        { name: 'more', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'cd', cloudInitNoCloud: { userData: 'x' } },
        { name: 'unlisted', emptyDisk: { capacity: '1Gi' } },
      ],
    ),
    new Map([['data', claim]]),
  );
  assert.deepEqual(status, [
    { name: 'cd', target: 'sda' },
    {
      name: 'more',
      target: 'vdb',
      persistentVolumeClaimInfo: {
        claimName: 'data',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '2Gi' },
        requests: { storage: '1Gi' },
        volumeMode: 'Filesystem',
      },
    },
    { name: 'root', target: 'vda' },
    { name: 'unlisted', target: 'sdb' },
  ]);
});

test('after z come two letters, and an instance without volumes tells nothing', () => {
  const names = Array.from({ length: 28 }, (_, i) => `d${i}`);
  const many = volumeStatusOf(
    spec(
      names.map((name) => ({ name, disk: { bus: 'virtio' } })),
      names.map((name) => ({ name, emptyDisk: { capacity: '1Gi' } })),
    ),
    undefined,
  );
  assert.deepEqual([many?.find(({ name }) => name === 'd25')?.target, many?.find(({ name }) => name === 'd27')?.target], ['vdz', 'vdab']);
  assert.equal(volumeStatusOf(spec([], undefined), undefined), undefined);
});

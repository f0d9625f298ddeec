import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tinySpec, vmi } from '../../testing/builders.ts';
import type { VmiStatus } from './kinds/virtual-machine-instance.ts';
import { whyNotMigratable } from './migratable.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';

type Modes = NonNullable<NonNullable<NonNullable<VmiStatus['volumeStatus']>[number]['persistentVolumeClaimInfo']>['accessModes']>;

const withVolumes = (volumes: VmiSpec['volumes'], status: Partial<VmiStatus> = {}) => ({
  ...vmi('Running', status),
  spec: { ...tinySpec, volumes },
});
const claimed = (...accessModes: Modes) => ({
  volumeStatus: [{ name: 'data', target: 'vda', persistentVolumeClaimInfo: { claimName: 'c', accessModes } }],
});
const claim = [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }];

test('disks that end with the instance are no obstacle', () => {
  const volumes = [
    ...(tinySpec.volumes ?? []),
    { name: 'e', emptyDisk: { capacity: '1Gi' } },
    { name: 'i', cloudInitNoCloud: { userData: '#' } },
  ];
  assert.equal(whyNotMigratable(withVolumes(volumes)), undefined);
});

test('a claim that several nodes can use is none either', () => {
  assert.equal(whyNotMigratable(withVolumes(claim, claimed('ReadWriteOnce', 'ReadWriteMany'))), undefined);
});

test('a claim of one node is named, with what it would need', () => {
  for (const status of [claimed('ReadWriteOnce'), {}]) {
    const why = whyNotMigratable(withVolumes(claim, status));
    assert.deepEqual([why?.reason, /PVC c .*ReadWriteMany/.test(why?.message ?? '')], ['DisksNotLiveMigratable', true]);
  }
});

test('a guest with the address of its Pod stays, and is told how not to', () => {
  const { domain } = tinySpec;
  const devices = { ...domain.devices, interfaces: [{ name: 'default', bridge: {} }] };
  const why = whyNotMigratable({ ...vmi('Running'), spec: { ...tinySpec, domain: { ...domain, devices } } });
  assert.deepEqual([why?.reason, /interface default .*masquerade/.test(why?.message ?? '')], ['InterfaceNotLiveMigratable', true]);
});

test('a shared folder holds a guest to its node, whoever else could use its PVC', () => {
  const { domain } = tinySpec;
  const devices = { ...domain.devices, filesystems: [{ name: 'data', virtiofs: {} }] };
  const why = whyNotMigratable({
    ...withVolumes(claim, claimed('ReadWriteMany')),
    spec: { ...tinySpec, volumes: claim, domain: { ...domain, devices } },
  });
  assert.deepEqual([why?.reason, /folder data .*virtiofs/.test(why?.message ?? '')], ['VirtIOFSNotLiveMigratable', true]);
});

test('a file of its node holds a guest there', () => {
  const why = whyNotMigratable(withVolumes([{ name: 'file', hostDisk: { path: '/srv/a/b', type: 'Disk' } }]));
  assert.deepEqual([why?.reason, /non-shared HostDisk/.test(why?.message ?? '')], ['DisksNotLiveMigratable', true]);
});

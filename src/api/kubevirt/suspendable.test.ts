import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm, vmi } from '../../testing/builders.ts';
import { whyNotSuspendable } from './suspendable.ts';
import { refusalOf } from './vm-can.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';

const onClaim = { name: 'root', persistentVolumeClaim: { claimName: 'root' } };

function machine(volumes: VmiSpec['volumes'], devices: Partial<VmiSpec['domain']['devices']> = {}) {
  const disks = (volumes ?? []).map(({ name }) => ({ name, disk: { bus: 'virtio' as const } }));
  return { ...vmi('Running'), spec: { domain: { devices: { disks, ...devices } }, volumes } as VmiSpec };
}

const CASES: readonly [string, ReturnType<typeof machine>, RegExp | undefined][] = [
  ['disks on PVCs are kept', machine([onClaim]), undefined],
  ['cloud-init is made anew', machine([onClaim, { name: 'init', cloudInitNoCloud: { userData: 'x' } }]), undefined],
  [
    'a containerDisk would be lost',
    machine([{ name: 'root', containerDisk: { image: 'x' } }]),
    /^disk root is a containerDisk, .*: put it on a PVC/,
  ],
  ['so would an emptyDisk', machine([onClaim, { name: 'tmp', emptyDisk: { capacity: '1Gi' } }]), /^disk tmp is an emptyDisk/],
  [
    'a file of the node is of one node',
    machine([onClaim, { name: 'file', hostDisk: { path: '/srv/a/b', type: 'Disk' } }]),
    /^disk file is a file of its node/,
  ],
  [
    'a containerDisk that is only read is the same again',
    machine([{ name: 'cd', containerDisk: { image: 'x' } }], { disks: [{ name: 'cd', cdrom: { bus: 'sata' } }] }),
    undefined,
  ],
  [
    'a shared folder is known to one process',
    machine([onClaim], { filesystems: [{ name: 'share', virtiofs: {} }] }),
    /^the folder share is shared by virtiofs/,
  ],
  [
    'frozen file systems would be in the memory',
    { ...machine([onClaim]), status: { ...machine([onClaim]).status, fsFreezeStatus: 'frozen' } },
    /^its file systems are frozen/,
  ],
  [
    'a hotplugged volume would be missing',
    machine([onClaim, { name: 'plug', persistentVolumeClaim: { claimName: 'p', hotpluggable: true } }]),
    /^volume plug is hotplugged: virtctl removevolume/,
  ],
];

for (const [name, seen, why] of CASES) {
  test(name, () => {
    const answer = whyNotSuspendable(seen);
    if (why) assert.match(answer ?? '', why);
    else assert.equal(answer, undefined);
  });
}

test('a machine on PVCs can be suspended while it runs, and is not paused, moved or snapshotted', () => {
  const seen = machine([onClaim]);
  const paused = { ...seen, status: { ...seen.status, conditions: [{ type: 'Paused', status: 'True' as const }] } };
  const moving = { ...seen, status: { ...seen.status, migrationState: { migrationUid: 'm' } } };
  assert.equal(refusalOf('suspend', { vm: vm('Always'), vmi: seen }), undefined);
  assert.match(refusalOf('suspend', { vm: vm('Always'), vmi: paused })?.message ?? '', /paused/);
  assert.match(refusalOf('suspend', { vm: vm('Always'), vmi: moving })?.message ?? '', /migrated/);
  assert.match(
    refusalOf('suspend', { vm: vm('Always', { snapshotInProgress: 's' }), vmi: seen })?.message ?? '',
    /VirtualMachineSnapshot s/,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { JsonObject } from '../../base/json.ts';
import { tinySpec } from '../../testing/builders.ts';
import { decideAddVolume, decideRemoveVolume, type VolumeOutcome } from './decide-volumes.ts';

const claim = { persistentVolumeClaim: { claimName: 'data' } };
const given: JsonObject = { name: 'data', disk: { disk: { bus: 'scsi' }, serial: 's1' }, volumeSource: claim };
const volume = { name: 'data', persistentVolumeClaim: { claimName: 'data', hotpluggable: true } };
const root = { name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } };
const rootDisk = { name: 'root', disk: { bus: 'virtio' as const } };

function changed(outcome: VolumeOutcome): object {
  return 'refused' in outcome ? [outcome.refused.reason, outcome.refused.message] : { volumes: outcome.volumes, disks: outcome.disks };
}

const added = decideAddVolume(tinySpec, given);
const plugged: VmiSpec = {
  ...tinySpec,
  domain: { devices: { disks: [rootDisk, { name: 'data', disk: { bus: 'scsi' } }] } },
  volumes: [root, volume],
};

test('a volume is marked as hotpluggable, and its disk has its name', () => {
  assert.deepEqual(changed(added), { volumes: [root, volume], disks: [rootDisk, { disk: { bus: 'scsi' }, serial: 's1', name: 'data' }] });
});

test('without a word about the bus it is SCSI', () => {
  for (const disk of [{}, { disk: {} }, { disk: { bus: '' } }])
    assert.deepEqual(changed(decideAddVolume(tinySpec, { ...given, disk })), {
      volumes: [root, volume],
      disks: [rootDisk, { disk: { bus: 'scsi' }, name: 'data' }],
    });
});

test('what is added under the name of an empty drive is put into it, and what is removed leaves the drive', () => {
  const drive = { name: 'data', cdrom: { bus: 'sata' as const } };
  const empty: VmiSpec = { ...tinySpec, domain: { devices: { disks: [rootDisk, drive] } } };
  assert.deepEqual(changed(decideAddVolume(empty, given)), { volumes: [root, volume], disks: [rootDisk, drive] });
  const full: VmiSpec = { ...empty, volumes: [root, volume] };
  assert.deepEqual(changed(decideRemoveVolume(full, { name: 'data' })), { volumes: [root], disks: [rootDisk, drive] });
  assert.match(JSON.stringify(changed(decideAddVolume(full, given))), /Conflict/);
});

const refusals: readonly (readonly [string, VolumeOutcome, string, RegExp])[] = [
  ['a name is needed', decideAddVolume(tinySpec, { ...given, name: '' }), 'BadRequest', /requires name/],
  ['a disk is needed', decideAddVolume(tinySpec, { ...given, disk: null }), 'BadRequest', /requires disk/],
  ['a source is needed', decideAddVolume(tinySpec, { ...given, volumeSource: undefined }), 'BadRequest', /requires volumeSource/],
  ['another source is none', decideAddVolume(tinySpec, { ...given, volumeSource: { emptyDisk: {} } }), 'BadRequest', /PVC or a DataVolume/],
  ['a name is used once', decideAddVolume(tinySpec, { ...given, name: 'root' }), 'Conflict', /that name already exists/],
  ['so is a claim', decideAddVolume(plugged, { ...given, name: 'other' }), 'Conflict', /already exists as volume data/],
  ['a removal needs a name', decideRemoveVolume(plugged, {}), 'BadRequest', /requires name/],
  ['what is not there stays so', decideRemoveVolume(tinySpec, { name: 'data' }), 'Conflict', /does not exist/],
  ['what it was started with stays', decideRemoveVolume(tinySpec, { name: 'root' }), 'Conflict', /not hotpluggable/],
  [
    'what its machine has is removed there',
    decideRemoveVolume(plugged, { name: 'data' }, []),
    'Conflict',
    /template of the VirtualMachine/,
  ],
];
for (const [name, outcome, reason, message] of refusals)
  test(name, () => {
    assert.ok('refused' in outcome);
    assert.equal(outcome.refused.reason, reason);
    assert.match(outcome.refused.message, message);
  });

test('a removal takes volume and disk', () => {
  assert.deepEqual(changed(decideRemoveVolume(plugged, { name: 'data' })), { volumes: [root], disks: [rootDisk] });
});

test('an instance of a machine remembers which volumes are its own', () => {
  const own = decideAddVolume(tinySpec, given, ['old']);
  assert.deepEqual('ephemeral' in own && own.ephemeral, ['old', 'data']);
  const rest = decideRemoveVolume(plugged, { name: 'data' }, ['old', 'data']);
  assert.deepEqual('ephemeral' in rest && rest.ephemeral, ['old']);
});

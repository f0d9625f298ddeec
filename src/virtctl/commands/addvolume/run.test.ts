import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { type AddVolumeFlags, run } from './run.ts';

const CALL = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/addvolume';
const VM_CALL = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/addvolume';
const CLAIM = 'GET /api/v1/namespaces/default/persistentvolumeclaims/data';
const claim = { metadata: { namespace: 'default', name: 'data' }, spec: {} };
const FLAGS: AddVolumeFlags = { dryRun: false, persist: false, volumeName: 'data' };
const volumeSource = { persistentVolumeClaim: { claimName: 'data', hotpluggable: true } };

test('a volume is a disk on SCSI with its name as serial number, of the instance alone', async () => {
  const { deps, requests, stdout } = testDeps({ [CLAIM]: claim, [CALL]: {} });
  await run(deps, FLAGS, 'db');
  assert.deepEqual(requests.at(-1), [CALL, { name: 'data', disk: { disk: { bus: 'scsi' }, serial: 'data' }, volumeSource }]);
  assert.equal(stdout(), 'Successfully submitted add volume request to VM db for volume data\n');
});

test('--persist says it to the VM, with bus, cache, serial number and dry run', async () => {
  const { deps, requests } = testDeps({ [CLAIM]: claim, [VM_CALL]: {} });
  await run(deps, { ...FLAGS, persist: true, dryRun: true, bus: 'virtio', cache: 'none', serial: 's1' }, 'db');
  const disk = { disk: { bus: 'virtio' }, serial: 's1', cache: 'none' };
  assert.deepEqual(requests.at(-1), [VM_CALL, { name: 'data', disk, volumeSource, dryRun: ['All'] }]);
});

test('a PVC that is not there, and a bus that takes nothing, are told before anything is asked for', async () => {
  const { deps, requests } = testDeps({});
  await assert.rejects(run(deps, FLAGS, 'db'), { reason: 'NotFound' });
  await assert.rejects(run(deps, { ...FLAGS, bus: 'sata' }, 'db'), { code: 'USAGE' });
  await assert.rejects(run(deps, { ...FLAGS, diskType: 'lun' }, 'db'), { code: 'USAGE' });
  assert.ok(requests.every(([request]) => request === CLAIM));
});

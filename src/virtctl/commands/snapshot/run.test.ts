import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const MACHINE = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const SNAPSHOTS = '/apis/snapshot.kubevirt.io/v1beta1/namespaces/default/virtualmachinesnapshots';

function answers(status: object) {
  return { [MACHINE]: vm('Halted'), [`POST ${SNAPSHOTS}`]: {}, [`GET ${SNAPSHOTS}/before`]: { metadata: { name: 'before' }, status } };
}

test('a snapshot is made, waited for, and told how it was taken', async () => {
  const status = { phase: 'Succeeded', snapshotVolumes: { includedVolumes: ['root'] }, indications: ['Online', 'GuestAgent'] };
  const { deps, requests, stdout } = testDeps(answers(status));
  await run(deps, { memory: false }, 'db', 'before');
  const [, made] = requests.find(([request]) => request.startsWith('POST')) ?? [];
  assert.deepEqual((made as { spec: object }).spec, { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' } });
  assert.equal(stdout(), 'db is kept as before: disks root, while its file systems were frozen\n');
});

test('memory is kept when it is asked for', async () => {
  const { deps, requests, stdout } = testDeps(answers({ phase: 'Succeeded', indications: ['Online', 'Memory'] }));
  await run(deps, { memory: true }, 'db', 'before');
  const [, made] = requests.find(([request]) => request.startsWith('POST')) ?? [];
  assert.equal((made as { spec: { memory?: boolean } }).spec.memory, true);
  assert.equal(stdout(), 'db is kept as before: no disks of its own, with its memory\n');
});

test('one that fails is an error with the reason', async () => {
  const { deps } = testDeps(answers({ phase: 'Failed', error: { message: 'no VolumeSnapshots here' } }));
  await assert.rejects(run(deps, { memory: false }, 'db', 'before'), (error: { code: string; why?: string }) => {
    assert.deepEqual([error.code, error.why], ['SNAPSHOT_FAILED', 'no VolumeSnapshots here']);
    return true;
  });
});

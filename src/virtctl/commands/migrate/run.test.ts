import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../../deps.testing.ts';
import { type MigrateFlags, run } from './run.ts';

const CALL = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/migrate';
const LIST = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancemigrations';
const VM = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const VMI = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db';
const FLAGS: MigrateFlags = { dryRun: false, check: false, wait: false };

test('a move is one request', async () => {
  const { deps, requests, stdout } = testDeps({ [CALL]: {} });
  await run(deps, FLAGS, 'db');
  assert.deepEqual([requests, stdout()], [[[CALL, {}]], 'VM db was scheduled to migrate\n']);
});

test('labels and a dry run are said to the server', async () => {
  const { deps, requests } = testDeps({ [CALL]: {} });
  await run(deps, { ...FLAGS, dryRun: true, addedNodeSelector: 'zone=b,disk=fast' }, 'db');
  assert.deepEqual(requests, [[CALL, { addedNodeSelector: { zone: 'b', disk: 'fast' }, dryRun: ['All'] }]]);
});

test('labels that are none are refused before anything is asked', async () => {
  const { deps, requests } = testDeps();
  await assert.rejects(run(deps, { ...FLAGS, addedNodeSelector: 'zone' }, 'db'), { code: 'USAGE' });
  assert.deepEqual(requests, []);
});

test('what the server refuses is told', async () => {
  const { deps, stdout } = testDeps({ [CALL]: status('Conflict', 'VM is not running') });
  await assert.rejects(run(deps, FLAGS, 'db'), { reason: 'Conflict' });
  assert.equal(stdout(), '');
});

test('a check says why a machine stays, and asks for no move', async () => {
  const vm = { metadata: { namespace: 'default', name: 'db' }, spec: { runStrategy: 'Always', template: { spec: {} } } };
  const why = 'PVC data is not shared';
  const conditions = [{ type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable', message: why }];
  const vmi = { metadata: vm.metadata, spec: {}, status: { phase: 'Running', conditions } };
  const { deps, requests } = testDeps({ [VM]: vm, [VMI]: vmi });
  await assert.rejects(run(deps, { ...FLAGS, check: true }, 'db'), { message: `VM db cannot be moved: ${why}` });
  assert.deepEqual(
    requests.map(([request]) => request),
    [VM, VMI],
  );
});

test('--wait tells how far it is, and fails with the migration', async () => {
  const failed = { phase: 'Failed', migrationState: { failureReason: 'the target has ended' } };
  const items = [{ metadata: { namespace: 'default', name: 'm1', uid: 'u1' }, spec: { vmiName: 'db' }, status: failed }];
  let asked = 0;
  const { deps, stdout } = testDeps({ [CALL]: {}, [LIST]: () => ({ metadata: {}, items: asked++ === 0 ? [] : items }) });
  await assert.rejects(run(deps, { ...FLAGS, wait: true }, 'db'), { code: 'MIGRATION_FAILED', why: 'the target has ended' });
  assert.equal(stdout(), 'VM db was scheduled to migrate\nFailed\n');
});

test('--wait tells what holds it up, once', async () => {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes are available' };
  const move = (status: object) => [{ metadata: { namespace: 'default', name: 'm1', uid: 'u1' }, spec: { vmiName: 'db' }, status }];
  const held = move({ phase: 'Scheduling', conditions: [condition] });
  const answers = [[], held, held, move({ phase: 'Succeeded', migrationState: { targetNode: 'n2' } })];
  const { deps, stdout } = testDeps({ [CALL]: {}, [LIST]: () => ({ metadata: {}, items: answers.shift() ?? [] }) });
  const clock = { ...deps.clock, sleep: async () => {} };
  await run({ ...deps, clock }, { ...FLAGS, wait: true }, 'db');
  assert.equal(stdout(), 'VM db was scheduled to migrate\nScheduling: 0/1 nodes are available\nSucceeded\nVM db runs on node n2\n');
});

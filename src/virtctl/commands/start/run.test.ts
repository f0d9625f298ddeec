import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const BASE = '/apis/subresources.kubevirt.io/v1/namespaces/default';
const VM = `PUT ${BASE}/virtualmachines/db/start`;
const FLAGS = { dryRun: false, paused: false, discard: false };

test('a start is one request to the machine', async () => {
  const { deps, requests, stdout } = testDeps({ [VM]: {} });
  await run(deps, FLAGS, 'db');
  assert.deepEqual([requests, stdout()], [[[VM, {}]], 'VM db was scheduled to start\n']);
});

test('--paused and --dry-run are said to the server', async () => {
  const { deps, requests, stdout } = testDeps({ [VM]: {} });
  await run(deps, { dryRun: true, paused: true, discard: false }, 'vm', 'db');
  assert.deepEqual(requests, [[VM, { paused: true, dryRun: ['All'] }]]);
  assert.equal(stdout(), 'Dry Run execution\nVM db was scheduled to start\n');
});

test('a name that is no machine may be one of the older kinds', async () => {
  const config = `PUT ${BASE}/virtualmachineinstanceconfigs/db/start`;
  const { deps, requests, stdout } = testDeps({ [config]: { metadata: { name: 'db-x7k2p' } } });
  await run(deps, FLAGS, 'db');
  assert.deepEqual(
    requests.map(([request]) => request),
    [VM, `PUT ${BASE}/offlinevirtualmachines/db/start`, config],
  );
  assert.equal(stdout(), 'VMIC db was scheduled to start: VMI db-x7k2p\n');
});

test('a kind that was said is the only one that is tried', async () => {
  const { deps, requests, stderr } = testDeps();
  await assert.rejects(run(deps, FLAGS, 'omv', 'db'), { reason: 'NotFound' });
  assert.deepEqual([requests.length, stderr()], [1, 'note: omv is taken as ovm\n']);
});

test('what the machine refuses is told, and not that the older kinds have none', async () => {
  const { deps } = testDeps({ [VM]: status('Conflict', 'Cannot start VM default/db: VM is already running') });
  await assert.rejects(run(deps, FLAGS, 'db'), { reason: 'Conflict', message: 'Cannot start VM default/db: VM is already running' });
});

test('a machine that is not there is told by its own kind', async () => {
  const { deps, stdout } = testDeps({ [VM]: status('NotFound', 'virtualmachines "db" not found') });
  await assert.rejects(run(deps, FLAGS, 'db'), { reason: 'NotFound', message: 'virtualmachines "db" not found' });
  assert.equal(stdout(), '');
});

test('what is neither missing nor in the wrong state ends the search', async () => {
  const { deps, requests } = testDeps({ [VM]: status('Forbidden', 'no') });
  await assert.rejects(run(deps, FLAGS, 'db'), { reason: 'Forbidden' });
  assert.equal(requests.length, 1);
});

test('several are started one after the other, and one that is not there does not keep the others from it', async () => {
  const web = `PUT ${BASE}/virtualmachines/web/start`;
  const { deps, stdout } = testDeps({ [VM]: {}, [web]: {} });
  await assert.rejects(run(deps, FLAGS, 'db', 'nobody', 'web'), { reason: 'NotFound' });
  assert.equal(stdout(), 'VM db was scheduled to start\nVM web was scheduled to start\n');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const VM = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/stop';

test('a stop leaves the time to the machine', async () => {
  const { deps, requests, stdout } = testDeps({ [VM]: {} });
  await run(deps, { dryRun: false, force: false }, 'db');
  assert.deepEqual([requests, stdout()], [[[VM, {}]], 'VM db was scheduled to stop\n']);
});

test('what the server warns of is said', async () => {
  const answer = new Response(null, { status: 202, headers: { warning: '299 - "its saved memory is thrown away"' } });
  const { deps, stdout, stderr } = testDeps({ [VM]: answer });
  await run(deps, { dryRun: false, force: false }, 'db');
  assert.deepEqual([stdout(), stderr()], ['VM db was scheduled to stop\n', 'Warning: its saved memory is thrown away\n']);
});

test('a stop by force says how long the guest has', async () => {
  const { deps, requests } = testDeps({ [VM]: {} });
  await run(deps, { dryRun: true, force: true, gracePeriod: 0 }, 'db');
  assert.deepEqual(requests, [[VM, { gracePeriod: 0, dryRun: ['All'] }]]);
});

for (const flags of [{ force: true }, { force: false, gracePeriod: 5 }]) {
  test(`${JSON.stringify(flags)} alone is refused before anything is sent`, async () => {
    const { deps, requests } = testDeps({ [VM]: {} });
    await assert.rejects(run(deps, { dryRun: false, ...flags }, 'db'), { code: 'USAGE', exitCode: 2 });
    assert.deepEqual(requests, []);
  });
}

test('a machine that does not run is a conflict', async () => {
  const { deps } = testDeps({ [VM]: status('Conflict', 'Cannot stop VM default/db: VM is not running') });
  await assert.rejects(run(deps, { dryRun: false, force: false }, 'db'), { reason: 'Conflict', message: /VM is not running/ });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const VMI = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/pause';

test('the running guest is asked, whatever kind was said', async () => {
  for (const words of [['db'], ['vm', 'db'], ['vmi/db']]) {
    const { deps, requests, stdout } = testDeps({ [VMI]: {} });
    await run(deps, { dryRun: false }, ...words);
    assert.deepEqual([requests, stdout()], [[[VMI, {}]], 'VMI db was scheduled to pause\n']);
  }
});

test('a dry run is said to the server and to the user', async () => {
  const { deps, requests, stdout } = testDeps({ [VMI]: {} });
  await run(deps, { dryRun: true }, 'db');
  assert.deepEqual([requests, stdout()], [[[VMI, { dryRun: ['All'] }]], 'Dry Run execution\nVMI db was scheduled to pause\n']);
});

test('what the server refuses is told', async () => {
  for (const [reason, message] of [
    ['Conflict', 'VMI is in the wrong state'],
    ['NotFound', 'virtualmachineinstances "db" not found'],
  ] as const) {
    const { deps, stdout } = testDeps({ [VMI]: status(reason, message) });
    await assert.rejects(run(deps, { dryRun: false }, 'db'), { reason, message });
    assert.equal(stdout(), '');
  }
});

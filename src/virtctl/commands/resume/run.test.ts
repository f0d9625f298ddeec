import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const VM = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/resume';

test('resume asks the machine', async () => {
  const { deps, requests, stdout } = testDeps({ [VM]: {} });
  await run(deps, { dryRun: false }, 'db');
  assert.deepEqual([requests, stdout()], [[[VM, {}]], 'VM db was scheduled to resume\n']);
});

test('why it cannot be done is told as the server says it', async () => {
  const { deps } = testDeps({ [VM]: status('Conflict', 'Cannot resume VM default/db: VM is not running') });
  await assert.rejects(run(deps, { dryRun: false }, 'db'), { reason: 'Conflict', message: /VM is not running/ });
});

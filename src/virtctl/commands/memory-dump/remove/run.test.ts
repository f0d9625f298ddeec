import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const REMOVE = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/removememorydump';

test('remove is one request to the machine', async () => {
  const { deps, requests, stdout } = testDeps({ [REMOVE]: {} });
  await run(deps, {}, 'db');
  assert.deepEqual([requests, stdout()], [[[REMOVE, {}]], 'Successfully submitted remove memory dump association of VM db\n']);
});

test('why it cannot be done is told as the server says it', async () => {
  const { deps } = testDeps({ [REMOVE]: status('Conflict', 'Cannot removememorydump VM default/db: VM has no memory dump') });
  await assert.rejects(run(deps, {}, 'db'), { reason: 'Conflict', message: /VM has no memory dump/ });
});

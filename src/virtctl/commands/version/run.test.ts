import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

test('both versions, and ours alone without asking anybody', async () => {
  const both = testDeps({ 'GET /apis/subresources.kubevirt.io/v1/version': { gitVersion: 'v9' } });
  await run(both.deps, { client: false });
  assert.equal(both.stdout(), 'Client Version: v0\nServer Version: v9\n');
  const ours = testDeps();
  await run(ours.deps, { client: true });
  assert.deepEqual([ours.stdout(), ours.requests], ['Client Version: v0\n', []]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const PATH = 'GET /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/filesystemlist';

test('the answer of the agent is printed as JSON', async () => {
  const { deps, stdout } = testDeps({ [PATH]: { items: [{ name: 'first' }] } });
  await run(deps, {}, 'vm', 'db');
  assert.equal(stdout(), '{\n  "items": [\n    {\n      "name": "first"\n    }\n  ]\n}\n');
});

test('a guest without an agent is told, and nothing is printed', async () => {
  const { deps, stdout } = testDeps({ [PATH]: status('Conflict', 'VMI does not have guest agent connected') });
  await assert.rejects(run(deps, {}, 'db'), { reason: 'Conflict', message: /guest agent/ });
  assert.equal(stdout(), '');
});

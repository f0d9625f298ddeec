import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('opens a node that is closed, and leaves one alone that is open', async () => {
  for (const [isClosed, count, said] of [
    [true, 2, 'node n1 takes Pods again\n'],
    [false, 1, 'node n1 was open already\n'],
  ] as const) {
    const node = { kind: 'Node', metadata: { name: 'n1' }, spec: isClosed ? { unschedulable: true } : {} };
    const { deps, requests, stdout } = testDeps({ 'GET /api/v1/nodes/n1': node, 'PATCH /api/v1/nodes/n1': node });
    await run(deps, {}, 'n1');
    assert.deepEqual([requests.length, stdout()], [count, said]);
  }
});

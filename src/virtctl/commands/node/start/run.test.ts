import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION_NODE_POWER, ANNOTATION_NODE_POWER_WANTED } from '../../../../api/kubevirt/names.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('start takes back what kept the node from running', async () => {
  const node = (power: string) => ({ kind: 'Node', metadata: { name: 'n1', annotations: { [ANNOTATION_NODE_POWER]: power } } });
  const { deps, requests, stdout } = testDeps({ 'GET /api/v1/nodes/n1': node('killed'), 'PATCH /api/v1/nodes/n1': node('running') });
  await run(deps, {}, 'n1');
  const wanted = { metadata: { annotations: { [ANNOTATION_NODE_POWER_WANTED]: null } } };
  assert.deepEqual([requests.at(-1), stdout()], [['PATCH /api/v1/nodes/n1', wanted], 'node n1 runs\n']);
});

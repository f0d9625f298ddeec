import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('a table of the nodes of any cluster', async () => {
  const none = { metadata: {}, items: [] };
  const { deps, stdout } = testDeps({
    'GET /api/v1/nodes': {
      metadata: {},
      items: [{ metadata: { name: 'n1' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } }],
    },
    'GET /api/v1/pods': none,
    'GET /apis/kubevirt.io/v1/virtualmachineinstances': none,
  });
  await run(deps);
  assert.equal(stdout(), 'NAME  STATUS  TAKES GUESTS  GUESTS  PODS  AGE\nn1    Ready   no            0       0     -\n');
});

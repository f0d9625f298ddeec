import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NODES } from '../../api/core/node.ts';
import { hasCondition } from '../../api/meta.ts';
import { sh, testNode } from './node.testing.ts';

test('the node registers itself as ready', async (t) => {
  const node = await testNode(t);
  await node.start().registered;
  const registered = await node.client.get(NODES, { name: 'n1' });
  assert.ok(hasCondition(registered?.status?.conditions, 'Ready'));
  assert.equal(registered?.metadata.labels?.['kubernetes.io/hostname'], 'n1');
  assert.equal(registered?.status?.capacity?.['pods'], '110');
});

test('a Pod runs and its exit code decides its phase', async (t) => {
  const node = await testNode(t);
  node.start();
  await node.run('good', { containers: [sh('echo hello; exit 0')] });
  await node.run('bad', { containers: [sh('exit 3')] });
  const good = await node.when('good', ({ status }) => status?.phase === 'Succeeded');
  const bad = await node.when('bad', ({ status }) => status?.phase === 'Failed');
  assert.equal(good.status?.containerStatuses?.[0]?.state?.terminated?.reason, 'Completed');
  assert.equal(bad.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3);
});

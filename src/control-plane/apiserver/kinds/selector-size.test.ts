import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const labels = { app: 'a' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const not = (count: number) => Array.from({ length: count }, (_, n) => ({ key: `k${n}`, operator: 'DoesNotExist' }));
const large = { matchLabels: labels, matchExpressions: not(1_000) };
const KINDS: readonly (readonly [path: string, kind: string, spec: object])[] = [
  ['/api/v1', 'Service', { ports: [{ port: 80 }], selector: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, 'v'])) }],
  ['/apis/apps/v1', 'Deployment', { selector: large, template }],
  ['/apis/apps/v1', 'ReplicaSet', { selector: large, template }],
  ['/apis/apps/v1', 'DaemonSet', { selector: large, template }],
  [
    '/apis/apps/v1',
    'StatefulSet',
    { selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: not(1_000).map(({ key }) => key) }] }, template },
  ],
  ['/apis/policy/v1', 'PodDisruptionBudget', { minAvailable: 1, selector: large }],
];
const send = (method: string, path: string, body: object) =>
  server.fetch(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

for (const [group, kind, spec] of KINDS)
  test(`the selector of a ${kind} has a size, which everybody waits for who holds it against Pods`, async () => {
    const plural = `${kind.toLowerCase()}s`;
    const answer = await send('POST', `${group}/namespaces/default/${plural}`, { metadata: { name: 'a' }, spec });
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), /spec\.selector: Too many: 1001: must have at most 1000 items/);
  });

test('a selector that is stored already may stay', async () => {
  const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'old', namespace: 'default', uid: 'u' },
    spec: { minAvailable: 1, selector: large },
  };
  await server.store.write({ key: 'policy/poddisruptionbudgets/default/old', value: budget });
  assert.equal((await send('PUT', `${path}/old`, { ...budget, spec: { ...budget.spec, minAvailable: 2 } })).status, 200);
  const larger = { ...large, matchExpressions: not(1_001) };
  assert.equal((await send('PUT', `${path}/old`, { ...budget, spec: { ...budget.spec, selector: larger } })).status, 422);
});

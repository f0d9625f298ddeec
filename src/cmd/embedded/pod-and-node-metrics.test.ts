import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { startTestServer } from '../../control-plane/apiserver/test-server.testing.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { createMetrics, type NodeUsage } from './pod-and-node-metrics.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u', labels: { app: 'a' } },
  spec: { containers: [{ name: 'c' }] },
};

function used(cpuSeconds: number, others = 0): readonly NodeUsage[] {
  const containers = new Map([['c', { cpuSeconds, memoryBytes: 2048 }]]);
  return [{ node: 'n1', pods: [{ pod, containers }], others: { cpuSeconds: others, memoryBytes: 1024 } }];
}

const PATH = '/apis/metrics.k8s.io/v1beta1';

test('kubectl top is told what containers and nodes use, over the time between two looks', async (t) => {
  const clock = new FakeClock();
  const looks = [used(1), used(1.5, 0.25), used(2.5, 0.25)];
  const measure = createMetrics(() => looks.shift() ?? assert.fail('nobody looks more often than that'), clock);
  const { fetch, close } = await startTestServer({ clock, hooks: { metrics: measure } });
  t.after(close);
  const json = async (path: string) => (await (await fetch(`${PATH}${path}`)).json()) as { items: Record<string, unknown>[] };

  const first = Promise.all([json('/nodes'), json('/pods')]);
  await new Promise(setImmediate); // both have asked
  clock.advance(1000);
  const [nodes, pods] = await first;
  assert.deepEqual([nodes.items[0]?.['usage'], nodes.items[0]?.['window']], [{ cpu: '750000000n', memory: '3Ki' }, '1s']);
  assert.deepEqual(pods.items[0]?.['containers'], [{ name: 'c', usage: { cpu: '500000000n', memory: '2Ki' } }]);

  clock.advance(10_000);
  assert.deepEqual(await json('/namespaces/default/pods/p'), {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { name: 'p', namespace: 'default', labels: { app: 'a' } },
    timestamp: '2026-01-01T00:00:11Z',
    window: '10s',
    containers: [{ name: 'c', usage: { cpu: '100000000n', memory: '2Ki' } }],
  });
  const counts = ['/pods?labelSelector=app%3Da', '/pods?labelSelector=app%3Db', '/namespaces/kube-system/pods'].map(json);
  assert.deepEqual(
    (await Promise.all(counts)).map(({ items }) => items.length),
    [1, 0, 0],
  );
  assert.deepEqual(
    await Promise.all([
      fetch(`${PATH}/nodes/none`).then(({ status }) => status),
      fetch(`${PATH}/nodes/n1`, { method: 'DELETE' }).then(({ status }) => status),
      fetch(`${PATH}/nodes?watch=true`).then(({ status }) => status),
    ]),
    [404, 405, 405],
  );
});

test('without anybody who measures there is no such group', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  assert.equal((await fetch(PATH)).status, 404);
});

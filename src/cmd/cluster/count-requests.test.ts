import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricFamilies } from '../../base/metrics.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { countRequests } from './count-requests.ts';

test('requests are counted by resource and verb, whatever the objects are called', async () => {
  const [metrics, clock] = [new MetricFamilies(), new FakeClock()];
  const fetch = countRequests(
    async ({ url }) => {
      if (url.includes('broken')) throw new Error('no connection');
      clock.advance(50);
      return new Response(null, { status: 204 });
    },
    metrics,
    clock,
  );
  for (const [method, path] of [
    ['GET', '/apis/kubevirt.io/v1/namespaces/default/virtualmachines/a'],
    ['GET', '/apis/kubevirt.io/v1/namespaces/default/virtualmachines/b'],
    ['PATCH', '/apis/kubevirt.io/v1/namespaces/default/virtualmachines/a/status'],
    ['GET', '/api/v1/pods?watch=true'],
    ['GET', '/api/v1/namespaces/default'],
    ['GET', '/api/v1/nodes'],
    ['GET', '/version'],
  ] as const)
    await fetch(new Request(`https://api${path}`, { method }));
  await assert.rejects(fetch(new Request('https://api/api/v1/broken')), /no connection/);
  const [latency, family] = metrics.all();
  const counted = (await family?.samples())?.map(({ labels, value }) => [labels?.['verb'], labels?.['resource'], labels?.['code'], value]);
  assert.deepEqual(counted, [
    ['get', 'virtualmachines', '204', 2],
    ['patch', 'virtualmachines/status', '204', 1],
    ['watch', 'pods', '204', 1],
    ['get', 'namespaces', '204', 1],
    ['list', 'nodes', '204', 1],
    ['get', 'none', '204', 1],
    ['list', 'broken', '<error>', 1],
  ]);
  const sums = ((await latency?.samples()) ?? []).filter(({ suffix }) => suffix === '_sum');
  assert.deepEqual(
    sums.map(({ labels, value }) => [labels?.['verb'], labels?.['url'], value]),
    [
      ['GET', 'https://api/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}', 0.1],
      ['PATCH', 'https://api/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/status', 0.05],
      ['GET', 'https://api/api/v1/pods', 0.05],
      ['GET', 'https://api/api/v1/namespaces/{name}', 0.05],
      ['GET', 'https://api/api/v1/nodes', 0.05],
      ['GET', 'https://api/', 0.05],
      ['GET', 'https://api/api/v1/broken', 0],
    ],
  );
});

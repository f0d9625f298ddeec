import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testing/until.ts';
import { startTestServer } from '../test-server.testing.ts';

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

test('every group version that is served here has an APIService that is available', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const { items } = await (await fetch(API_SERVICES)).json();
  const states = new Map(
    items.map((item: { metadata: { name: string }; status: { conditions: { status: string; reason: string }[] } }) => [
      item.metadata.name,
      `${item.status.conditions[0]?.status} ${item.status.conditions[0]?.reason}`,
    ]),
  );
  assert.deepEqual([states.get('v1.'), states.get('v1.apps'), states.get('v1.events.k8s.io')], ['True Local', 'True Local', 'True Local']);
});

test('an APIService of another server says what is missing, step by step', async (t) => {
  let answer: () => Promise<Response> = async () => new Response('broken', { status: 500 });
  const { fetch, close } = await startTestServer({ hooks: { proxyToService: () => answer() } });
  t.after(close);
  const reason = async () => {
    const { status } = await (await fetch(`${API_SERVICES}/v1.demo.example`)).json();
    return status?.conditions?.[0]?.reason;
  };
  const becomes = (expected: string) => until(async () => (await reason()) === expected, expected);
  await fetch(
    API_SERVICES,
    post({
      metadata: { name: 'v1.demo.example' },
      spec: {
        group: 'demo.example',
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { namespace: 'default', name: 'demo' },
      },
    }),
  );
  await becomes('ServiceNotFound');
  await fetch('/api/v1/namespaces/default/services', post({ metadata: { name: 'demo' }, spec: { ports: [{ port: 443 }] } }));
  await becomes('MissingEndpoints');
  const slice = {
    metadata: { name: 'demo-1', labels: { 'kubernetes.io/service-name': 'demo' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
    ports: [{ port: 443 }],
  };
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  await fetch(slices, post(slice));
  await becomes('FailedDiscoveryCheck');
  answer = async () => Response.json({ kind: 'APIResourceList', resources: [] });
  await fetch(slices, post({ ...slice, metadata: { ...slice.metadata, name: 'demo-2' } }));
  await becomes('Passed');
  // Nobody waits for the next look: the first request that finds nobody tells.
  answer = () => Promise.reject(new Error('connect ECONNREFUSED'));
  assert.equal((await fetch('/apis/demo.example/v1/things')).status, 503);
  await becomes('FailedDiscoveryCheck');
});

test('the APIService of a custom group comes and goes with its definition', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const schema = { openAPIV3Schema: { type: 'object' } };
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await fetch(
    crds,
    post({
      metadata: { name: 'widgets.ex.io' },
      spec: {
        group: 'ex.io',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }),
  );
  const is = (status: number) => until(async () => (await fetch(`${API_SERVICES}/v1.ex.io`)).status === status, `status ${status}`);
  await is(200);
  await fetch(`${crds}/widgets.ex.io`, { method: 'DELETE' });
  await is(404);
});

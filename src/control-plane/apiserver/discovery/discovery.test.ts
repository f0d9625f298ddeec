import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../api/meta.ts';
import type { Resource } from '../../../api/resource.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { startTestServer } from '../test-server.testing.ts';

type ApiService = KubeObject & { readonly kind: 'APIService'; readonly spec: object };
const API_SERVICES: Resource<ApiService> = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
  kind: 'APIService',
  isNamespaced: false,
};
const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function apiService(): ApiService {
  const spec = {
    group: 'subresources.example.com',
    version: 'v1',
    service: { name: 's', namespace: 'kubevirt' },
    groupPriorityMinimum: 1000,
    versionPriority: 15,
  };
  return { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'v1.subresources.example.com' }, spec };
}

test('the classic documents name every resource with its subresources', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const { resources } = (await (await fetch('/api/v1')).json()) as {
    resources: { name: string; kind: string; shortNames?: string[]; group?: string }[];
  };
  const byName = (name: string) => resources.find((resource) => resource.name === name);
  assert.deepEqual(
    [byName('pods')?.shortNames, byName('pods/eviction')?.group, byName('pods/eviction')?.kind],
    [['po'], 'policy', 'Eviction'],
  );
  const { groups } = (await (await fetch('/apis')).json()) as { groups: { name: string }[] };
  assert.equal(groups[0]?.name, 'apps');
});

test('the aggregated documents repeat their type in the answer', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  for (const [accept, expected] of [
    [`${V2},application/json`, V2],
    [V2.replace('v2', 'v2beta1'), V2.replace('v2', 'v2beta1')],
  ] as const) {
    const response = await fetch('/apis', { headers: { accept } });
    assert.equal(response.headers.get('content-type'), expected);
  }
  const { items } = (await (await fetch('/api', { headers: { accept: V2 } })).json()) as {
    items: { versions: { resources: { resource: string; subresources?: { subresource: string }[] }[] }[] }[];
  };
  const pods = items[0]?.versions[0]?.resources.find(({ resource }) => resource === 'pods');
  assert.ok(pods?.subresources?.some(({ subresource }) => subresource === 'log'));
});

test('an aggregated API is discovered and reached through its server, and answers 503 when that is down', async (t) => {
  let isUp = true;
  const seen: string[] = [];
  const clock = new FakeClock();
  const { client, fetch, close } = await startTestServer({
    clock,
    hooks: {
      async proxyToService(_, request, identity) {
        if (!isUp) throw new Error('connection refused');
        seen.push(`${request.method} ${new URL(request.url).pathname} ${identity.user}`);
        return Response.json({ resources: [{ name: 'things/start', namespaced: true, kind: 'Thing', verbs: ['update'] }] });
      },
    },
  });
  t.after(close);
  await client.create(API_SERVICES, apiService());
  const path = '/apis/subresources.example.com/v1/namespaces/default/things/a/start';
  assert.equal((await fetch(path, { method: 'PUT' })).status, 200);
  assert.deepEqual(seen, ['PUT /apis/subresources.example.com/v1/namespaces/default/things/a/start admin']);
  const discover = async () => {
    const answer = await fetch('/apis', { headers: { accept: V2 } });
    const { items } = (await answer.json()) as {
      items: { metadata: { name: string }; versions: { freshness: string; resources: { resource: string }[] }[] }[];
    };
    const found = items.find(({ metadata }) => metadata.name === 'subresources.example.com')?.versions[0];
    return [found?.freshness, found?.resources.map(({ resource }) => resource)];
  };
  assert.deepEqual(await discover(), ['Current', ['things']]);
  isUp = false;
  assert.deepEqual(await discover(), ['Current', ['things']]);
  clock.advance(5000);
  assert.deepEqual(await discover(), ['Stale', ['things']]);
  const down = await fetch(path, { method: 'PUT' });
  assert.deepEqual([down.status, ((await down.json()) as { reason: string }).reason], [503, 'ServiceUnavailable']);
  assert.equal((await fetch('/apis/subresources.example.com/v1')).status, 503);
  assert.equal((await fetch('/api/v1/namespaces')).status, 200);
});

test('unknown paths are NotFound, and a singular name is corrected', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const message = async (path: string) => {
    const response = await fetch(path);
    assert.equal(response.status, 404);
    return ((await response.json()) as { message: string }).message;
  };
  assert.equal(await message('/nonsense'), 'the server could not find the requested resource');
  assert.equal(
    await message('/api/v1/namespaces/default/pod'),
    'the server could not find the requested resource; the name of this resource is "pods"',
  );
  assert.equal(await message('/apis/apps/v1/deployments/a'), 'the server could not find the requested resource');
  assert.equal(await message('/api/v1/namespaces/default/nodes'), 'the server could not find the requested resource');
  assert.equal(await message('/api/v1/namespaces/default/configmaps/a'), 'configmaps "a" not found');
});

test('methods that a path does not have are MethodNotAllowed', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  assert.equal((await fetch('/api/v1/pods', { method: 'POST', body: '{}' })).status, 405);
  assert.equal((await fetch('/version', { method: 'POST', body: '{}' })).status, 405);
  assert.equal((await fetch('/api/v1/namespaces/default/pods/a/log', { method: 'PUT', body: '{}' })).status, 405);
});

test('the version is one that kubectl knows', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const { major, minor, gitVersion } = (await (await fetch('/version?timeout=32s')).json()) as Record<string, string>;
  assert.deepEqual([major, minor], ['1', '34']);
  assert.match(gitVersion ?? '', /^v1\.34\.\d+$/);
});

test('OpenAPI documents have a hash that lets them be cached for ever, until a kind changes', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  const index = async () => ((await (await fetch('/openapi/v3')).json()) as { paths: Record<string, { serverRelativeURL: string }> }).paths;
  const paths = await index();
  const url = paths['api/v1']?.serverRelativeURL ?? '';
  const document = await fetch(url);
  assert.equal(document.headers.get('cache-control'), 'public, immutable');
  assert.ok('components' in ((await document.json()) as object));
  const etag = document.headers.get('etag') ?? '';
  assert.equal((await fetch(url, { headers: { 'if-none-match': etag } })).status, 304);
  const stale = await fetch('/openapi/v3/api/v1?hash=old');
  assert.deepEqual([stale.status, stale.headers.get('location')], [301, url]);
  await client.request('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    method: 'POST',
    body: JSON.stringify({
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }),
  });
  assert.ok((await index())['apis/example.com/v1']);
});

test('OpenAPI v2 comes as protobuf to those who ask for it, with a type that Go can read', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  const response = await fetch('/openapi/v2', { headers: { accept } });
  assert.equal(response.headers.get('content-type'), 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
  assert.ok((await response.arrayBuffer()).byteLength > 10_000);
});

test('words that every object has are no media types', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  assert.equal((await fetch('/api/v1/namespaces', { headers: { accept: 'constructor' } })).status, 406);
  const accept = 'application/json;as=constructor;g=meta.k8s.io;v=v1';
  assert.equal((await fetch('/api/v1/namespaces', { headers: { accept } })).status, 406);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ENDPOINT_SLICES, type EndpointSlice } from '../../../api/core/endpoint-slice.ts';
import { PODS } from '../../../api/core/pod.ts';
import { SERVICES, type Service } from '../../../api/core/service.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const AT = '/api/v1/namespaces/default/services';
const READER = { user: 'reader', groups: ['system:authenticated'] };

/** A Service with two ports and one Pod, and a way to Pods that says what it was asked. */
async function serve(t: TestContext, endpoint: object = {}): Promise<TestServer> {
  const api = await startTestServer({
    hooks: {
      reachEndpoint: async ({ url, method, headers, body }) =>
        Response.json(
          { url, method, names: [...headers.keys()].sort(), body: body && (await new Response(body).text()) },
          { status: 201, headers: { 'x-by': 'the Pod' } },
        ),
    },
  });
  t.after(() => api.close());
  const metadata = { name: 'web', namespace: 'default' };
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await api.client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  await api.client.patch(PODS, metadata, { status: { podIP: '10.244.0.5' } }, { subresource: 'status' });
  const ports = [
    { name: 'http', port: 80, targetPort: 8080 },
    { name: 'admin', port: 81, targetPort: 8081 },
  ];
  await api.client.create(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } } as Service);
  await api.client.create(ENDPOINT_SLICES, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: ports.map(({ name, targetPort }) => ({ name, port: targetPort })),
    endpoints: [{ addresses: ['10.244.0.5'], targetRef: { kind: 'Pod', name: 'web', namespace: 'default' }, ...endpoint }],
  } as EndpointSlice);
  return api;
}

test('a request reaches a Pod of the Service, with its path, question and body, and without what is for the API server', async (t) => {
  const { fetch } = await serve(t);
  const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-remote-user': 'me', accept: 'text/html' };
  const answer = await fetch(`${AT}/web:http/proxy/a%2Fb/c?d=e%20f`, { method: 'POST', headers, body: 'hello' });
  assert.deepEqual([answer.status, answer.headers.get('x-by')], [201, 'the Pod']);
  const names = ['accept', 'content-type'];
  assert.deepEqual(await answer.json(), { url: 'http://10.244.0.5:8080/a%2Fb/c?d=e%20f', method: 'POST', names, body: 'hello' });
});

test('what follows the subresource is passed on as sent, and nothing else of the path is taken for it', async (t) => {
  const { fetch } = await serve(t);
  const urlOf = async (path: string) => ((await (await fetch(`${AT}/web:http/${path}`)).json()) as { url: string }).url;
  const base = 'http://10.244.0.5:8080';
  assert.deepEqual(
    [await urlOf('%70roxy/proxy9/x'), await urlOf('proxy//a//b/'), await urlOf('proxy')],
    [`${base}/proxy9/x`, `${base}//a//b/`, `${base}/`],
  );
});

test('ports go by name and by number, and a scheme may be given', async (t) => {
  const { fetch } = await serve(t);
  const urlOf = async (name: string) => ((await (await fetch(`${AT}/${name}/proxy`)).json()) as { url: string }).url;
  assert.deepEqual(
    [await urlOf('web:81'), await urlOf('https:web:admin'), await urlOf('http:web:80')],
    ['http://10.244.0.5:8081/', 'https://10.244.0.5:8081/', 'http://10.244.0.5:8080/'],
  );
  const statuses = ['web', 'web:82', 'nobody:80', 'ftp:web:80', 'WEB'].map(async (name) => (await fetch(`${AT}/${name}/proxy/`)).status);
  assert.deepEqual(await Promise.all(statuses), [503, 503, 404, 400, 400]);
});

for (const [name, endpoint] of [
  ['an address that is not its Pod’s', { addresses: ['169.254.169.254'] }],
  ['no Pod', { targetRef: undefined }],
  ['a Pod that is not there', { targetRef: { kind: 'Pod', name: 'other' } }],
  ['a Pod that is not ready', { conditions: { ready: false } }],
] as const)
  test(`an endpoint with ${name} is not reached`, async (t) => {
    const { fetch } = await serve(t, endpoint);
    assert.equal((await fetch(`${AT}/web:80/proxy/`)).status, 503);
  });

test('the right is one of its own', async (t) => {
  const { fetch } = await serve(t);
  assert.equal((await fetch(`${AT}/web:80/proxy/`, {}, READER)).status, 403);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { silentLogger } from '../../../base/log.ts';
import type { Pki } from '../../../base/node/pki.ts';
import type { WebServer } from '../../../base/node/web-server.ts';
import { listen } from '../transport/listen.ts';
import { ask, temporaryPki } from '../transport/tls.testing.ts';
import { type ApiService, createServiceProxy, type ServiceProxy } from './service-proxy.ts';

describe('the way to an aggregated server', { timeout: 20_000 }, () => {
  let pki: Pki;
  let removePki: () => Promise<void>;
  let backend: Server;
  let front: WebServer;
  let proxy: ServiceProxy;
  let apiService: ApiService;
  let resolve: () => { host: string; port: number } | undefined;
  const webSockets = new WebSocketServer({ noServer: true });
  const backendPort = () => (backend.address() as AddressInfo).port;

  before(async () => {
    ({ pki, remove: removePki } = await temporaryPki());
    backend = createServer({ ...pki.virtApi, ca: pki.frontProxyCa, requestCert: true }, async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      response.writeHead(202, { 'x-backend': 'yes' });
      response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headersDistinct, body }));
    });
    backend.on('upgrade', (request, socket, head) => {
      if (request.url === '/refuse') {
        socket.end('HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{"kind": "Status"}');
        return;
      }
      webSockets.handleUpgrade(request, socket, head, (accepted) => {
        accepted.send(JSON.stringify({ url: request.url, user: request.headers['x-remote-user'] }));
        accepted.on('message', (data, isBinary) => accepted.send(data, { binary: isBinary }));
      });
    });
    backend.listen(0, '127.0.0.1');
    await once(backend, 'listening');
    proxy = createServiceProxy({ resolveService: async () => resolve(), frontProxy: () => pki.frontProxyClient, log: silentLogger });
    front = await listen({
      handle: (request, identity) => proxy.proxyToService(apiService, request, identity),
      upgrade: (request, socket, head, identity) => proxy.proxyUpgrade(apiService, request, socket, head, identity),
      pki,
      port: 0,
      log: silentLogger,
    });
  });
  after(async () => {
    proxy.close();
    webSockets.close();
    await front.close();
    backend.close();
    backend.closeAllConnections();
    await removePki();
  });

  function reset(spec: Partial<ApiService['spec']> = {}): void {
    resolve = () => ({ host: '127.0.0.1', port: backendPort() });
    const service = { namespace: 'kubevirt', name: 'virt-api' };
    const caBundle = Buffer.from(pki.kubevirtCa).toString('base64');
    apiService = { metadata: { name: 'v1.subresources.kubevirt.io' }, spec: { service, caBundle, ...spec } };
  }
  const admin = () => ({ port: front.port, ca: pki.ca, ...pki.admin });

  test('method, path, query and body arrive; the caller is told in headers that clients cannot set', async () => {
    reset();
    const { status, headers, body } = await ask({
      ...admin(),
      method: 'PUT',
      path: '/apis/g/v1/x%2Fy?a=b&a=c',
      body: '{"dryRun":["All"]}',
      headers: { 'x-remote-user': 'root', 'X-Remote-Extra-Scopes': 'all', 'x-custom': 'kept', 'content-type': 'application/json' },
    });
    const seen = JSON.parse(body);
    assert.deepEqual([status, headers['x-backend']], [202, 'yes']);
    assert.deepEqual([seen.method, seen.url, seen.body], ['PUT', '/apis/g/v1/x%2Fy?a=b&a=c', '{"dryRun":["All"]}']);
    assert.deepEqual(seen.headers['x-remote-user'], ['kubernetes-admin']);
    assert.deepEqual(seen.headers['x-remote-group'], ['system:masters', 'system:authenticated']);
    assert.deepEqual(
      [seen.headers['x-custom'], seen.headers['x-remote-extra-scopes'], seen.headers['authorization']],
      [['kept'], undefined, undefined],
    );
  });

  test('extra facts and names in any script reach the server', async () => {
    reset();
    const identity = { user: 'Zoë', groups: [], uid: 'u1', extra: { 'example.org/scopes': ['a', 'b'] } };
    const response = await proxy.proxyToService(apiService, new Request('https://127.0.0.1/x'), identity);
    const { headers } = (await response.json()) as { headers: Record<string, string[]> };
    assert.equal(Buffer.from(headers['x-remote-user']?.[0] ?? '', 'latin1').toString('utf8'), 'Zoë');
    assert.deepEqual(
      [headers['x-remote-uid'], headers['x-remote-extra-example.org%2fscopes'], headers['x-remote-group']],
      [['u1'], ['a', 'b'], undefined],
    );
  });

  const outages: [string, () => void][] = [
    [
      'nobody listens',
      () => {
        resolve = () => ({ host: '127.0.0.1', port: 1 });
      },
    ],
    [
      'the service has no endpoint',
      () => {
        resolve = () => undefined;
      },
    ],
    ['the server shows a certificate of another authority', () => reset({ caBundle: Buffer.from(pki.ca).toString('base64') })],
    ['the server is called something else', () => reset({ service: { namespace: 'other', name: 'virt-api' } })],
    ['the bundle is no certificate', () => reset({ caBundle: 'bm9uZQ==' })],
  ];
  for (const [name, arrange] of outages) {
    test(`503 when ${name}`, async () => {
      reset();
      arrange();
      const { status, body } = await ask({ ...admin(), path: '/apis/g/v1' });
      assert.deepEqual([status, JSON.parse(body).reason], [503, 'ServiceUnavailable']);
      const socket = new WebSocket(`wss://127.0.0.1:${front.port}/x`, { ca: pki.ca, ...pki.admin });
      socket.on('error', () => {});
      const [, response] = await once(socket, 'unexpected-response');
      response.resume();
      assert.equal(response.statusCode, 503);
    });
  }

  test('a WebSocket passes through with its subprotocol, both ways', async () => {
    reset();
    const socket = new WebSocket(`wss://127.0.0.1:${front.port}/console?shared=true`, ['plain.kubevirt.io'], {
      ca: pki.ca,
      ...pki.admin,
      headers: { 'X-Remote-User': 'root' },
    });
    const [hello] = await once(socket, 'message');
    assert.deepEqual(JSON.parse(String(hello)), { url: '/console?shared=true', user: 'kubernetes-admin' });
    assert.equal(socket.protocol, 'plain.kubevirt.io');
    const block = Buffer.alloc(300_000, 7);
    socket.send(block);
    assert.deepEqual((await once(socket, 'message'))[0], block);
    socket.close(1000, 'bye');
    assert.equal((await once(socket, 'close'))[0], 1000);
  });

  test('a client that breaks off breaks the connection behind it', async () => {
    reset();
    const socket = new WebSocket(`wss://127.0.0.1:${front.port}/console`, { ca: pki.ca, ...pki.admin });
    await once(socket, 'message');
    const [behind] = [...webSockets.clients];
    assert.ok(behind);
    socket.terminate();
    await once(behind, 'close');
  });

  test('a refusal of the server reaches the client as it is', async () => {
    reset();
    const socket = new WebSocket(`wss://127.0.0.1:${front.port}/refuse`, { ca: pki.ca, ...pki.admin });
    socket.on('error', () => {});
    const [, response] = await once(socket, 'unexpected-response');
    let body = '';
    for await (const chunk of response) body += chunk;
    assert.deepEqual([response.statusCode, body], [409, '{"kind": "Status"}']);
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { WebSocketServer } from 'ws';
import { ApiError } from '../../base/errors.ts';
import { PING_MS } from '../../base/keep-alive.ts';
import { silentLogger } from '../../base/log.ts';
import type { Pki } from '../../base/node/pki.ts';
import type { WebServer } from '../../base/node/web-server.ts';
import { listen } from '../../control-plane/apiserver/transport/listen.ts';
import { temporaryPki } from '../../control-plane/apiserver/transport/tls.testing.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { quiet, until } from '../../testing/until.ts';
import { createClient, type KubeFetch } from '../client.ts';
import type { Cluster } from './kubeconfig.ts';
import { createTlsFetch } from './tls-fetch.ts';
import { openWebSocket } from './websocket.ts';

describe('a cluster over TLS', { timeout: 20_000 }, () => {
  let pki: Pki;
  let removePki: () => Promise<void>;
  let server: WebServer;
  let cluster: Cluster;
  let handle: KubeFetch;
  const webSockets = new WebSocketServer({ noServer: true });

  before(async () => {
    ({ pki, remove: removePki } = await temporaryPki());
    server = await listen({
      handle: (request) => handle(request),
      upgrade: (request, socket, head) => {
        if (request.url?.endsWith('/refused')) throw new ApiError('Conflict', 'the guest is not running');
        webSockets.handleUpgrade(request, socket, head, (accepted) => {
          if (request.url === '/mute') accepted.pause();
          accepted.send('first words');
          accepted.on('message', (data) => accepted.send(data));
        });
      },
      pki,
      port: 0,
      log: silentLogger,
    });
    cluster = { context: 'test', server: `https://127.0.0.1:${server.port}`, ca: pki.ca, ...pki.admin };
  });
  after(async () => {
    webSockets.close();
    await server.close();
    await removePki();
  });

  const clientFor = (each: Cluster) => createClient({ fetch: createTlsFetch(each), baseUrl: each.server, userAgent: 'test' });

  for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
    test(`${method}: body, headers and answer travel`, async () => {
      handle = async (request) =>
        Response.json({ method: request.method, agent: request.headers.get('user-agent'), body: await request.text() }, { status: 201 });
      const response = await clientFor(cluster).request('/x', { method, body: 'hello' });
      assert.deepEqual([response.status, await response.json()], [201, { method, agent: 'test', body: 'hello' }]);
    });
  }

  test('an answer without a body is one', async () => {
    handle = async () => new Response(null, { status: 204 });
    assert.equal((await clientFor(cluster).request('/x')).status, 204);
  });

  test('a stream arrives piece by piece and aborting it reaches the server', async () => {
    const left = Promise.withResolvers<void>();
    handle = async (request) => {
      request.signal.addEventListener('abort', () => left.resolve());
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{"type":"ADDED","object":{"kind":"Pod"}}\n'));
          },
        }),
      );
    };
    const stop = new AbortController();
    const pods = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true };
    const seen: string[] = [];
    for await (const event of clientFor(cluster).watch(pods, { signal: stop.signal })) {
      seen.push(event.type);
      stop.abort();
    }
    assert.deepEqual(seen, ['ADDED']);
    await left.promise;
  });

  test('a request can be given up while the server thinks', async () => {
    handle = () => new Promise(() => {});
    const stop = new AbortController();
    const answer = clientFor(cluster).request('/x', { signal: stop.signal });
    setImmediate(() => stop.abort());
    await assert.rejects(answer, { name: 'AbortError' });
  });

  test('connections are used again', async () => {
    handle = async () => new Response('ok');
    const client = clientFor(cluster);
    for (let i = 0; i < 3; i++) await (await client.request('/x')).text();
    await Promise.all([1, 2, 3].map(async () => (await client.request('/x')).text()));
  });

  test('a server that cannot be reached, or is another one, is said in plain words', async () => {
    const nobody = { ...cluster, server: 'https://127.0.0.1:1' };
    await assert.rejects(clientFor(nobody).request('/x'), {
      reason: 'ServiceUnavailable',
      message: 'Cannot reach the Kubernetes API at https://127.0.0.1:1: nothing listens there; is the cluster running?',
    });
    await assert.rejects(clientFor({ ...cluster, ca: pki.frontProxyCa }).request('/x'), {
      reason: 'ServiceUnavailable',
      message: /not signed by the authority in the kubeconfig/,
    });
    await assert.rejects(openWebSocket({ cluster: nobody, path: '/' }), { reason: 'ServiceUnavailable' });
  });

  test('a token is sent when there is one', async () => {
    const { cert: _cert, key: _key, ...anonymous } = cluster;
    await assert.rejects(clientFor({ ...anonymous, token: 'x' }).request('/x'), { reason: 'Unauthorized' });
  });

  test('an identity that the server does not take is asked for once more, for objects and streams', async () => {
    handle = async (request) => new Response(await request.text());
    const { cert, key, ...anonymous } = cluster;
    const good = { cert: cert ?? '', key: key ?? '' };
    for (const [identities, isTaken] of [
      [[{ token: 'old' }, good], true],
      [[{ token: 'old' }, { token: 'older' }], false],
    ] as const) {
      const meant = () => {
        let next = 0;
        return { ...anonymous, login: { identity: async () => identities[next] ?? good, refused: () => next++ } };
      };
      const sent = clientFor(meant()).request('/x', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
      const opened = openWebSocket({ cluster: meant(), path: '/console' });
      if (isTaken) {
        assert.equal(await (await sent).text(), '{}');
        (await opened).terminate();
      } else {
        await assert.rejects(sent, { reason: 'Unauthorized' });
        await assert.rejects(opened, { reason: 'Unauthorized' });
      }
    }
  });

  test('a WebSocket loses nothing that was said before anybody listened', async () => {
    const socket = await openWebSocket({ cluster, path: '/console', protocols: ['plain.kubevirt.io'] });
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    const messages: string[] = [];
    await new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        messages.push(String(data));
        if (messages.length === 2) resolve();
        else socket.send('more');
      });
    });
    assert.deepEqual([messages, socket.protocol], [['first words', 'more'], 'plain.kubevirt.io']);
    socket.close();
  });

  test('a server below a path is asked there, for answers, streams and refusals', async () => {
    handle = async (request) => Response.json(new URL(request.url).pathname);
    const below = { ...cluster, server: `${cluster.server}/k8s/clusters/c-1` };
    assert.equal(await (await clientFor(below).request('/api/v1/pods')).json(), '/k8s/clusters/c-1/api/v1/pods');
    const socket = await openWebSocket({ cluster: below, path: '/console' });
    socket.on('message', () => {});
    assert.equal(new URL(socket.url).pathname, '/k8s/clusters/c-1/console');
    socket.close();
    await assert.rejects(openWebSocket({ cluster: below, path: '/refused' }), { reason: 'Conflict' });
  });

  test('a refused WebSocket is the error that the server sent', async () => {
    await assert.rejects(openWebSocket({ cluster, path: '/refused' }), {
      reason: 'Conflict',
      message: 'the guest is not running',
      code: 409,
    });
  });

  test('a WebSocket to a server that is gone without a word closes by itself, an idle one stays', async () => {
    for (const isAlive of [true, false]) {
      const clock = new FakeClock();
      const socket = await openWebSocket({ cluster, path: isAlive ? '/console' : '/mute', clock });
      socket.on('message', () => {});
      let pongs = 0;
      socket.on('pong', () => pongs++);
      const closed = once(socket, 'close');
      for (let ping = 1; ping <= 5 && socket.readyState === socket.OPEN; ping++) {
        await quiet();
        clock.advance(PING_MS);
        await (isAlive ? until(() => pongs === ping) : quiet());
      }
      assert.equal(socket.readyState === socket.OPEN, isAlive);
      if (isAlive) socket.terminate();
      assert.equal((await closed)[0], 1006);
    }
  });

  test('aborting closes a WebSocket', async () => {
    const stop = new AbortController();
    const socket = await openWebSocket({ cluster, path: '/console', signal: stop.signal });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    stop.abort();
    await closed;
    await assert.rejects(openWebSocket({ cluster, path: '/console', signal: stop.signal }), { name: 'AbortError' });
  });
});

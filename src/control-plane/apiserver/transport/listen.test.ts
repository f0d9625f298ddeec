import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { WebSocket, WebSocketServer } from 'ws';
import { silentLogger } from '../../../base/log.ts';
import type { Pki } from '../../../base/node/pki.ts';
import { issueLeaf } from '../../../base/node/pki-issue.ts';
import type { WebServer } from '../../../base/node/web-server.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import type { Identity } from './identity.ts';
import { listen } from './listen.ts';
import { ask, temporaryPki } from './tls.testing.ts';

const DAY_MS = 24 * 3_600_000;

describe('listen', { timeout: 20_000 }, () => {
  let pki: Pki;
  let folder: string;
  let removePki: () => Promise<void>;
  let server: WebServer;
  let handle: (request: Request, identity: Identity) => Promise<Response>;
  const whoAmI = async (request: Request, identity: Identity) =>
    Response.json({ ...identity, path: new URL(request.url).pathname, remote: request.headers.get('x-remote-user') });
  const webSockets = new WebSocketServer({ noServer: true });

  before(async () => {
    ({ pki, folder, remove: removePki } = await temporaryPki());
    server = await listen({
      handle: (request, identity) => handle(request, identity),
      upgrade: (request, socket, head, identity) => {
        webSockets.handleUpgrade(request, socket, head, (accepted) => {
          accepted.send(JSON.stringify({ user: identity.user, url: request.url, remote: request.headers['x-remote-user'] ?? null }));
          accepted.on('message', (data) => accepted.send(data));
        });
      },
      pki,
      port: 0,
      log: silentLogger,
    });
  });
  after(async () => {
    webSockets.close();
    await server.close();
    await removePki();
  });

  const admin = () => ({ port: server.port, ca: pki.ca, ...pki.admin });

  test('a client certificate of the authority is an identity', async () => {
    handle = whoAmI;
    const { body } = await ask({ ...admin(), path: '/api' });
    assert.deepEqual(JSON.parse(body), {
      user: 'kubernetes-admin',
      groups: ['system:masters', 'system:authenticated'],
      path: '/api',
      remote: null,
    });
  });

  test('no certificate is anonymous', async () => {
    handle = whoAmI;
    const { body } = await ask({ port: server.port, ca: pki.ca, path: '/' });
    assert.equal(JSON.parse(body).user, 'system:anonymous');
  });

  test('a certificate that has expired, is of another authority or of a server is refused with 401, over HTTP/2 and WebSockets too', async () => {
    handle = whoAmI;
    const authority = { cert: await readFile(`${folder}/ca.crt`, 'utf8'), key: await readFile(`${folder}/ca.key`, 'utf8') };
    const late = await issueLeaf(
      authority,
      { use: 'client', subject: { commonName: 'late', organizations: ['system:masters'] } },
      { notBeforeMs: Date.now() - 2 * DAY_MS, notAfterMs: Date.now() - DAY_MS },
    );
    for (const credentials of [late, pki.frontProxyClient, pki.virtHandlerClient, pki.apiServer]) {
      const { status, body } = await ask({ port: server.port, ca: pki.ca, ...credentials, path: '/' });
      const { kind, reason, code } = JSON.parse(body);
      assert.deepEqual([status, kind, reason, code], [401, 'Status', 'Unauthorized', 401]);
    }
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: pki.ca, ...late });
    const stream = session.request({ ':path': '/' });
    assert.equal((await once(stream, 'response'))[0][':status'], 401);
    session.destroy();
    const socket = new WebSocket(`wss://127.0.0.1:${server.port}/`, { ca: pki.ca, ...late });
    socket.on('error', () => {});
    const [, answer] = await once(socket, 'unexpected-response');
    assert.equal(answer.statusCode, 401);
    socket.terminate();
  });

  test('a connection that outlives its certificate is refused from then on, over HTTP/2 and with an upgrade, too', async (t) => {
    handle = whoAmI;
    const clock = new FakeClock(Date.now());
    const aging = await listen({
      handle: (request, identity) => handle(request, identity),
      upgrade: () => {},
      pki,
      port: 0,
      clock,
      log: silentLogger,
    });
    t.after(() => aging.close());
    const authority = { cert: await readFile(`${folder}/ca.crt`, 'utf8'), key: await readFile(`${folder}/ca.key`, 'utf8') };
    const subject = { commonName: 'short', organizations: ['people'] };
    const short = await issueLeaf(
      authority,
      { use: 'client', subject },
      { notBeforeMs: Date.now() - 1000, notAfterMs: Date.now() + DAY_MS },
    );
    const tls = { ca: pki.ca, ...short };
    const session = connectHttp2(`https://127.0.0.1:${aging.port}`, tls);
    t.after(() => session.destroy());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const statuses = async () => [
      (await once(session.request({ ':path': '/' }).resume(), 'response'))[0][':status'],
      (await ask({ port: aging.port, ...tls, agent, path: '/' })).status,
    ];
    assert.deepEqual(await statuses(), [200, 200]);
    clock.advance(2 * DAY_MS);
    assert.deepEqual(await statuses(), [401, 401]);
    const socket = new WebSocket(`wss://127.0.0.1:${aging.port}/`, tls);
    t.after(() => socket.terminate());
    socket.on('error', () => {});
    const [, answer] = await once(socket, 'unexpected-response');
    assert.equal(answer.statusCode, 401);
  });

  test('a session resumed without a certificate stays anonymous, one with a certificate keeps its identity', async () => {
    handle = whoAmI;
    for (const [credentials, user] of [
      [{}, 'system:anonymous'],
      [pki.admin, 'kubernetes-admin'],
    ] as const) {
      const open = async (session?: Buffer) => {
        const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: pki.ca, servername: 'localhost', session, ...credentials });
        let ticket: Buffer | undefined;
        socket.on('session', (each) => {
          ticket = each;
        });
        await once(socket, 'secureConnect');
        const isReused = socket.isSessionReused();
        socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
        let text = '';
        for await (const chunk of socket) text += chunk;
        return { text, ticket, isReused };
      };
      const first = await open();
      const second = await open(first.ticket);
      assert.equal(second.isReused, true);
      assert.match(second.text, new RegExp(`"user":"${user}"`));
    }
  });

  test('a bearer token is refused with 401', async () => {
    handle = whoAmI;
    const { status, body } = await ask({ port: server.port, ca: pki.ca, headers: { authorization: 'Bearer x' } });
    assert.deepEqual([status, JSON.parse(body).reason], [401, 'Unauthorized']);
  });

  test('claims of an identity in headers are dropped', async () => {
    handle = whoAmI;
    const forged = await ask({ ...admin(), headers: { 'X-Remote-User': 'root' } });
    assert.equal(JSON.parse(forged.body).remote, null);
  });

  test('a name that is not ours is refused', async () => {
    handle = whoAmI;
    assert.equal((await ask({ ...admin(), headers: { host: 'evil.example:6443' } })).status, 403);
    for (const host of ['localhost:1', `127.0.0.1:${server.port}`, 'kubernetes.default.svc', '[::1]:1']) {
      assert.equal((await ask({ ...admin(), headers: { host } })).status, 200, host);
    }
  });

  test('a path cannot name another host', async () => {
    handle = whoAmI;
    const { body } = await ask({ ...admin(), path: '//evil.example/x' });
    assert.equal(JSON.parse(body).path, '//evil.example/x');
    assert.equal((await ask({ ...admin(), path: 'https://evil.example/x' })).status, 400);
  });

  test('bodies stream both ways', async () => {
    handle = async (request) => new Response(request.body);
    const outgoing = httpsRequest({ host: '127.0.0.1', ...admin(), method: 'POST', agent: false });
    const echoed: string[] = [];
    outgoing.write('one');
    const [incoming] = await once(outgoing, 'response');
    incoming.setEncoding('utf8');
    echoed.push((await once(incoming, 'data'))[0]);
    outgoing.write('two');
    echoed.push((await once(incoming, 'data'))[0]);
    outgoing.end();
    incoming.resume();
    await once(incoming, 'end');
    assert.deepEqual(echoed, ['one', 'two']);
  });

  test('headers come at once and a client that leaves aborts its request', async () => {
    const aborted = Promise.withResolvers<void>();
    handle = async (request) => {
      request.signal.addEventListener('abort', () => aborted.resolve());
      return new Response(new ReadableStream({}));
    };
    const outgoing = httpsRequest({ host: '127.0.0.1', ...admin(), agent: false });
    outgoing.end();
    outgoing.on('error', () => {});
    const [incoming] = await once(outgoing, 'response');
    assert.equal(incoming.statusCode, 200);
    incoming.destroy();
    await aborted.promise;
  });

  test('a client that does not read holds the writer back', async () => {
    const MEGABYTE = new Uint8Array(1024 * 1024);
    let produced = 0;
    const cancelled = Promise.withResolvers<void>();
    handle = async () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            produced += 1;
            controller.enqueue(MEGABYTE);
          },
          cancel: () => cancelled.resolve(),
        }),
      );
    const outgoing = httpsRequest({ host: '127.0.0.1', ...admin(), agent: false });
    outgoing.end();
    const [incoming] = await once(outgoing, 'response');
    // what fits into the buffers of both sides; an unbounded writer would pass this within the same number of turns
    for (let turn = 0; turn < 2000; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(produced < 64, `${produced} MB were produced for a reader that reads nothing`);
    incoming.destroy();
    await cancelled.promise;
  });

  test('a handler that does not read its body leaves the connection usable', async () => {
    handle = async () => new Response('no', { status: 413 });
    const socket = connectTls({ host: '127.0.0.1', ...admin(), servername: 'localhost' });
    const message = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`;
    socket.write(message + message.replace('Host', 'Connection: close\r\nHost'));
    let text = '';
    for await (const chunk of socket) text += chunk;
    assert.equal(text.match(/HTTP\/1.1 413/g)?.length, 2);
  });

  test('a handler that fails answers with a Status', async () => {
    handle = () => Promise.reject(new Error('broken'));
    const { status, body } = await ask(admin());
    assert.deepEqual([status, JSON.parse(body).kind, JSON.parse(body).message], [500, 'Status', 'broken']);
  });

  test('a body that fails half way is not mistaken for a whole one', async () => {
    handle = async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('half'));
          },
          pull(controller) {
            controller.error(new Error('broken'));
          },
        }),
      );
    await assert.rejects(ask(admin()));
  });

  test('HTTP/2 carries identity, bodies, streams and aborts', async () => {
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: pki.ca, ...pki.admin });
    try {
      handle = async (request, identity) => Response.json({ user: identity.user, body: await request.text() });
      const echo = session.request({ ':method': 'POST', ':path': '/x' });
      echo.end('hello');
      let text = '';
      for await (const chunk of echo) text += chunk;
      assert.deepEqual(JSON.parse(text), { user: 'kubernetes-admin', body: 'hello' });

      const aborted = Promise.withResolvers<void>();
      handle = async (request) => {
        request.signal.addEventListener('abort', () => aborted.resolve());
        return new Response(new ReadableStream({}));
      };
      const watch = session.request({ ':path': '/watch' });
      const [headers] = await once(watch, 'response');
      assert.equal(headers[':status'], 200);
      watch.close();
      await aborted.promise;
    } finally {
      session.close();
    }
  });

  test('a WebSocket arrives with its identity, a clean path and no claims', async () => {
    const socket = new WebSocket(`wss://127.0.0.1:${server.port}/a/../b?c=d`, {
      ca: pki.ca,
      ...pki.admin,
      headers: { 'x-remote-user': 'root' },
    });
    const [data] = await once(socket, 'message');
    assert.deepEqual(JSON.parse(String(data)), { user: 'kubernetes-admin', url: '/b?c=d', remote: null });
    socket.send('ping');
    assert.equal(String((await once(socket, 'message'))[0]), 'ping');
    socket.close();
    await once(socket, 'close');
  });

  test('a WebSocket of a foreign page and one with a bad token are refused', async () => {
    const statusOf = async (options: object) => {
      const socket = new WebSocket(`wss://127.0.0.1:${server.port}/`, { ca: pki.ca, ...options });
      socket.on('error', () => {});
      const [, response] = await once(socket, 'unexpected-response');
      response.resume();
      return response.statusCode;
    };
    assert.equal(await statusOf({ ...pki.admin, origin: 'https://evil.example' }), 403);
    assert.equal(await statusOf({ headers: { authorization: 'Bearer x' } }), 401);
  });

  test('a busy port is passed over and the next one told', async () => {
    const options = { handle: whoAmI, upgrade: () => {}, pki, log: silentLogger };
    const second = await listen({ ...options, port: server.port });
    assert.ok(second.port > server.port);
    await second.close();
  });

  test('closing ends open watches', async () => {
    const short = await listen({
      handle: async (request) =>
        new Response(new ReadableStream({ start: (controller) => request.signal.addEventListener('abort', () => controller.close()) })),
      upgrade: () => {},
      pki,
      port: 0,
      log: silentLogger,
    });
    const outgoing = httpsRequest({ host: '127.0.0.1', port: short.port, ca: pki.ca, ...pki.admin, agent: false });
    outgoing.end();
    const [incoming] = await once(outgoing, 'response');
    incoming.resume();
    await Promise.all([once(incoming, 'end'), short.close()]);
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { silentLogger } from '../../../base/log.ts';
import type { Pki } from '../../../base/node/pki.ts';
import type { WebServer } from '../../../base/node/web-server.ts';
import { until } from '../../../testing/until.ts';
import { readBody } from '../request/decode-body.ts';
import { listen } from './listen.ts';
import { ask, temporaryPki } from './tls.testing.ts';

/** Short here, so that a test need not wait for what users get. */
const PATIENCE_MS = 1500;

describe('clients nobody should have', { timeout: 60_000 }, () => {
  let pki: Pki;
  let removePki: () => Promise<void>;
  let server: WebServer;
  let watches = 0;
  let most = 0;
  before(async () => {
    ({ pki, remove: removePki } = await temporaryPki());
    server = await listen({
      async handle(request) {
        if (request.method === 'PUT') return new Response('not wanted', { status: 404 }); // without a look at its body
        if (request.method !== 'GET') return new Response(String((await readBody(request, { timeoutMs: PATIENCE_MS })).length));
        if (request.signal.aborted) return new Response('nobody reads this');
        watches += 1;
        most = Math.max(most, watches);
        request.signal.addEventListener('abort', () => {
          watches -= 1;
        });
        return new Response(new ReadableStream({}));
      },
      upgrade: () => {},
      headersTimeoutMs: PATIENCE_MS,
      pki,
      port: 0,
      log: silentLogger,
    });
  });
  after(async () => {
    await server.close();
    await removePki();
  });

  const tls = async (options: ConnectionOptions = {}) => {
    const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: pki.ca, ...pki.admin, servername: 'localhost', ...options });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  };
  const everybodyElseIsServed = async () => {
    const { status, body } = await ask({ port: server.port, ca: pki.ca, ...pki.admin, method: 'POST', body: 'hello' });
    assert.deepEqual([status, body], [200, '5']);
  };

  test('a connection that never says hello is closed', async () => {
    const socket = connectTcp({ host: '127.0.0.1', port: server.port });
    await closeOf(socket);
  });

  test('headers that come letter by letter: closed, with or without a 408', async (t) => {
    const socket = await tls();
    const closed = closeOf(socket);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const drip = setInterval(() => socket.write('a'), 20);
    t.after(() => clearInterval(drip));
    await closed;
    await everybodyElseIsServed();
  });

  test('a body that stops half way: 408 with a Status', async () => {
    const socket = await tls();
    socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"half":');
    const [chunk] = await once(socket, 'data');
    const [head = '', body = ''] = String(chunk).split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 408 /);
    const { kind, code, message } = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1));
    assert.deepEqual([kind, code], ['Status', 408]);
    assert.match(message, /did not arrive within 1\.5 s/);
    socket.destroy();
    await everybodyElseIsServed();
  });

  test('a large body that is refused unread: the connection is good for the next request', async (t) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const options = { port: server.port, ca: pki.ca, ...pki.admin, agent };
    for (const size of [100, 400_000, 3_500_000]) {
      const refused = await ask({ ...options, method: 'PUT', body: 'x'.repeat(size) });
      const next = await ask({ ...options, method: 'POST', body: 'hello' });
      assert.deepEqual([refused.status, next.status, next.body], [404, 200, '5'], `after ${size} bytes`);
    }
  });

  test('ten thousand HTTP/2 requests that are taken back at once: the connection is closed, and nothing of them stays', async () => {
    const socket = await tls({ ALPNProtocols: ['h2'] });
    const closed = closeOf(socket);
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, Buffer.alloc(0))]));
    for (let i = 0; i < 10_000 && !socket.destroyed; i++) {
      const stream = 2 * i + 1;
      socket.write(Buffer.concat([frame(HEADERS, stream, GET, END_STREAM | END_HEADERS), frame(RST_STREAM, stream, CANCEL)]));
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    assert.ok(most < 2000, `${most} requests were open at once`);
    await until(() => watches === 0, 'every request to be aborted');
    await everybodyElseIsServed();
  });
});

/** The end of a connection, be it by a reset: writing to what the server has closed is an error that `once` would throw. */
function closeOf(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  socket.resume();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const END_STREAM = 1;
const END_HEADERS = 4;
/** :method GET, :scheme https, :path /, :authority localhost */
const GET = Buffer.concat([Buffer.from([0x82, 0x87, 0x84, 0x41, 9]), Buffer.from('localhost')]);
const CANCEL = Buffer.from([0, 0, 0, 8]);

function frame(type: number, stream: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

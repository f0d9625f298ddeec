import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { type Clock, systemClock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { ensurePki, type KeyPair, type Pki, VIRT_HANDLER_CLIENT_NAME, VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import { until } from '../../testing/until.ts';
import { connectBytes } from '../migration/connect-bytes.ts';
import { onlyAnswers } from './answers.testing.ts';
import type { HandlerAnswers } from './handler-answers.ts';
import { startHandlerServer } from './server.ts';

const DB = '/v1/namespaces/default/virtualmachineinstances/db';
const ECHO: Pick<HandlerAnswers, 'console'> = {
  console: async () => ({ carry: (webSocket) => webSocket.on('message', (data) => webSocket.send(data)), abandon: () => {} }),
};

describe('the door of virt-handler', () => {
  let folder = '';
  let pki: Pki;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
    pki = await ensurePki(join(folder, 'pki'), systemClock);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('a question reaches its function, with what the path and the query say, and its answer goes back', async (t) => {
    const asked: object[] = [];
    const { ask } = await serve(t, {
      usage: async (each) => {
        asked.push(each);
        return { cpuSeconds: 1, memoryBytes: 2, atMs: 3 };
      },
      'vnc/screenshot': async (each) => {
        asked.push(each);
        return Buffer.from('PNG');
      },
      pause: async (each) => void asked.push(each),
    });
    const answers = [
      await ask('GET', `${DB}/usage`),
      await ask('GET', `${DB}/vnc/screenshot?moveCursor=true`),
      await ask('PUT', `${DB}/pause`),
    ];
    assert.deepEqual(answers, [
      { status: 200, type: 'application/json', body: '{"cpuSeconds":1,"memoryBytes":2,"atMs":3}' },
      { status: 200, type: 'image/png', body: 'PNG' },
      { status: 200, type: undefined, body: '' },
    ]);
    const parameters = { namespace: 'default', name: 'db' };
    assert.deepEqual(asked, [
      { parameters, question: {} },
      { parameters, question: { moveCursor: true } },
      { parameters, question: {} },
    ]);
  });

  test('a question may have a value, and so may its answer', async (t) => {
    const { ask } = await serve(t, {
      exec: async ({ question }) => ({ stdout: JSON.stringify(question), stderr: '', isTruncated: false }),
    });
    const { body } = await ask('PUT', `${DB}/exec`, '{"command":["id"],"more":1}');
    assert.deepEqual(JSON.parse(body), { stdout: '{"command":["id"]}', stderr: '', isTruncated: false });
  });

  const refuses = async () => {
    throw new ApiError('Conflict', 'not now');
  };
  const breaks = async () => {
    throw new Error('QEMU is not connected');
  };
  const FAILURES: readonly (readonly [name: string, method: string, path: string, expected: string, body?: string])[] = [
    ['a refusal', 'PUT', `${DB}/pause`, '409 Conflict not now'],
    ['anything else', 'PUT', `${DB}/reset`, '500 InternalError QEMU is not connected'],
    ['another path', 'GET', '/v1/other', '404 NotFound there is nothing at GET /v1/other'],
    ['another method', 'GET', `${DB}/pause`, `404 NotFound there is nothing at GET ${DB}/pause`],
    ['a stream without an upgrade', 'GET', `${DB}/console`, `404 NotFound there is nothing at GET ${DB}/console`],
    ['a way out', 'PUT', `${DB}/..%2f..%2fpause`, `404 NotFound there is nothing at PUT ${DB}/..%2f..%2fpause`],
    [
      'a bad question',
      'PUT',
      `${DB}/freeze`,
      '400 BadRequest unfreezeTimeout: Invalid value: 1: must be a duration such as 5m0s',
      '{"unfreezeTimeout":1}',
    ],
    ['no JSON', 'PUT', `${DB}/exec`, '400 BadRequest the question is not JSON', '{'],
    [
      'a long question',
      'PUT',
      `${DB}/exec`,
      '413 RequestEntityTooLarge the question is larger than 1048576 bytes',
      'x'.repeat(1024 * 1024 + 1),
    ],
  ];
  for (const [name, method, path, expected, question] of FAILURES)
    test(`${name} is answered with a Status`, async (t) => {
      const { ask } = await serve(t, { pause: refuses, reset: breaks });
      const { body } = await ask(method, path, question);
      const { kind, code, reason, message } = JSON.parse(body);
      assert.deepEqual([kind, `${code} ${reason} ${message}`], ['Status', expected]);
    });

  test('a stream carries what its function connected with', async (t) => {
    const { open } = await serve(t, ECHO);
    const socket = open(`${DB}/console`, ['other', 'plain.kubevirt.io']);
    await once(socket, 'open');
    assert.equal(socket.protocol, 'plain.kubevirt.io');
    socket.send('hello');
    assert.equal(String((await once(socket, 'message'))[0]), 'hello');
  });

  test('a stream that cannot be had is refused with a Status, before anything is upgraded', async (t) => {
    const { open } = await serve(t, { vnc: refuses, portforward: breaks });
    const refusals = [`${DB}/vnc`, `${DB}/portforward/22/tcp`, `${DB}/portforward/99999/tcp`, `${DB}/pause`, '//'].map((path) =>
      refusal(open(path)),
    );
    assert.deepEqual(await Promise.all(refusals), [409, 500, 404, 404, 404]);
  });

  test('a guest is let go of when the handshake of its client is wrong', async (t) => {
    let abandoned = 0;
    const { ask } = await serve(t, { console: async () => ({ carry: () => assert.fail(), abandon: () => abandoned++ }) });
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'short' };
    assert.equal((await ask('GET', `${DB}/console`, undefined, headers)).status, 400);
    await until(() => abandoned === 1);
  });

  test('a guest is let go of when its client has left meanwhile', async (t) => {
    const connected = Promise.withResolvers<void>();
    let [isAsked, isReleased] = [false, false];
    const release = () => {
      isReleased = true;
    };
    const { open } = await serve(t, {
      console: async () => {
        isAsked = true;
        await connected.promise;
        // Who is gone may be noticed now, or with the first bytes.
        return { carry: (webSocket) => webSocket.once('close', release), abandon: release };
      },
    });
    const socket = open(`${DB}/console`);
    socket.on('error', () => {});
    await until(() => isAsked);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.terminate();
    await closed;
    connected.resolve();
    await until(() => isReleased);
  });

  test('of a guest that comes the bytes go as they are, and by no WebSocket', async (t) => {
    const migration: HandlerAnswers['migration'] = async () => ({ carry: (client) => client.pipe(client), abandon: () => {} });
    const { port } = await serve(t, { migration });
    const path = `${DB}/migration/m1?channel=memory`;
    const socket = await connectBytes({ host: '127.0.0.1', port, path, identity: identity(pki.migrationClient) });
    socket.end(Buffer.alloc(1_000_000, 'x'));
    assert.equal(await text(socket), 'x'.repeat(1_000_000));
    assert.equal(await refusal(connect(port, pki.migrationClient, { path })), 404);
    const console = connectBytes({ host: '127.0.0.1', port, path: `${DB}/console`, identity: identity(pki.virtHandlerClient) });
    await assert.rejects(console, /refused it with 404/);
  });

  test('a client that the list does not name is refused, whatever it asks for', async (t) => {
    const { ask, open } = await serve(t, ECHO, { allowedClients: ['somebody-else'] });
    const asked = [await ask('GET', `${DB}/usage`), await ask('GET', '/v1/runs/1'), await ask('GET', '/nothing')];
    assert.deepEqual(
      asked.map(({ status }) => status),
      [403, 403, 403],
    );
    assert.equal(await refusal(open(`${DB}/console`)), 403);
  });

  test('another virt-handler brings guests, and does nothing else; virt-api does all but that', async (t) => {
    const { port, ask } = await serve(t, ECHO);
    const migration = `${DB}/migration/m1?channel=memory`;
    const others = httpsRequest({ ...identity(pki.migrationClient), agent: false, host: '127.0.0.1', port, path: `${DB}/usage` });
    others.end();
    const [response] = await once(others, 'response');
    assert.equal(response.statusCode, 403);
    response.resume();
    assert.equal(await refusal(connect(port, pki.migrationClient, { path: `${DB}/console` })), 403);
    const bring = (client: KeyPair) => connectBytes({ host: '127.0.0.1', port, path: migration, identity: identity(client) });
    await assert.rejects(bring(pki.virtHandlerClient), /refused it with 403/);
    await assert.rejects(bring(pki.migrationClient), /refused it with 500/); // nothing of this is here
    for (const [client, status] of [[pki.virtHandlerClient, 403] as const, [pki.migrationClient, 500] as const])
      assert.equal(await refusal(connect(port, client, { path: `${DB}/migration/m1/printed` })), status);
    assert.notEqual((await ask('GET', `${DB}/usage`)).status, 403);
  });

  test('a certificate that is over is that of nobody, even on a connection that stood before', async (t) => {
    const later = { ...systemClock, now: () => systemClock.now() + 100 * 365 * 86_400_000 };
    const { ask, open } = await serve(t, ECHO, { clock: later });
    assert.equal((await ask('GET', `${DB}/usage`)).status, 403);
    assert.equal(await refusal(open(`${DB}/console`)), 403);
  });

  test('no certificate, or one that is not that of a client of this authority, is no client', async (t) => {
    const { port } = await serve(t, ECHO);
    for (const client of [undefined, pki.frontProxyClient, pki.virtApi]) await assert.rejects(once(connect(port, client), 'open'));
  });

  test('closing does not wait for a client that never says a word', async (t) => {
    const { server, port } = await serve(t, {});
    const silent = connectTcp(port, '127.0.0.1');
    silent.on('error', () => {});
    await once(silent, 'connect');
    await Promise.all([server.close(), once(silent, 'close')]);
  });

  test('other certificates are used for connections made from now on', async (t) => {
    const { server, ask } = await serve(t, { pause: async () => {} });
    server.renew({ ...pki.virtHandler, ca: pki.frontProxyCa });
    await assert.rejects(ask('PUT', `${DB}/pause`));
    server.renew({ ...pki.virtHandler, ca: pki.kubevirtCa });
    assert.equal((await ask('PUT', `${DB}/pause`)).status, 200);
  });

  type Serving = { readonly allowedClients?: readonly string[]; readonly clock?: Clock };
  async function serve(t: TestContext, answers: Partial<HandlerAnswers>, serving: Serving = {}) {
    const { allowedClients = [VIRT_HANDLER_CLIENT_NAME], clock = systemClock } = serving;
    const certs = { ...pki.virtHandler, ca: pki.kubevirtCa };
    const common = { certs, allowedClients, host: '127.0.0.1', port: 0, clock, log: silentLogger };
    const server = await startHandlerServer({ ...common, answers: onlyAnswers(answers) });
    t.after(() => server.close());
    const { port } = server;
    const ask = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
      const request = httpsRequest({ ...identity(pki.virtHandlerClient), agent: false, host: '127.0.0.1', port, method, path, headers });
      request.end(body);
      const [response] = await once(request, 'response');
      return { status: response.statusCode, type: response.headers['content-type'], body: await text(response) };
    };
    const open = (path: string, protocols: string[] = []) => connect(port, pki.virtHandlerClient, { path, protocols });
    return { server, port, ask, open };
  }

  function connect(port: number, client: KeyPair | undefined, { path = `${DB}/console`, protocols = [] as string[] } = {}): WebSocket {
    return new WebSocket(`wss://127.0.0.1:${port}${path}`, protocols, identity(client));
  }

  function identity(client: KeyPair | undefined) {
    return { ...(client && { cert: client.cert, key: client.key }), ca: pki.kubevirtCa, servername: VIRT_HANDLER_SERVER_NAME };
  }
});

async function refusal(socket: WebSocket): Promise<number | undefined> {
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  socket.terminate();
  return response.statusCode;
}

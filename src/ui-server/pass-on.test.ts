import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../base/clock.ts';
import { ApiError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { startWebServer, type WebServer } from '../base/node/web-server.ts';
import { temporaryPki } from '../control-plane/apiserver/transport/tls.testing.ts';
import { createPassOn } from './pass-on.ts';
import { startUiServer, type UiServer } from './start.ts';

const MIB = 2 ** 20;
/** Of all sockets on the way, in both directions, and of what streams keep. */
const MOST_ON_THE_WAY = 24 * MIB;
const SENT = 96 * MIB;

describe('a piece of a disk on its way through the page', () => {
  let cluster: WebServer;
  let ui: UiServer;
  let cookie = '';
  let remove: () => Promise<void>;
  const tunnelled: string[] = [];
  const heard: Record<string, string | null>[] = [];
  const mayRead = Promise.withResolvers<void>();
  let readBytes = 0;
  let left: Promise<unknown> = Promise.resolve();

  before(async () => {
    const made = await temporaryPki();
    remove = made.remove;
    cluster = await startWebServer({
      serving: made.pki.apiServer,
      clientCa: made.pki.ca,
      host: '127.0.0.1',
      port: 0,
      log: silentLogger,
      async handle({ method, url, headers, body, signal }) {
        heard.push({ method, path: new URL(url).pathname, ...Object.fromEntries(NAMES.map((name) => [name, headers.get(name)])) });
        left = new Promise((resolve) => signal.addEventListener('abort', resolve));
        await mayRead.promise;
        readBytes = 0;
        for await (const chunk of body ?? []) readBytes += chunk.length;
        return Response.json({ stage: 'receiving', receivedBytes: readBytes });
      },
      upgrade({ request }) {
        tunnelled.push(request.url ?? '');
        throw new ApiError('Conflict', 'the guest is not running');
      },
    });
    const at = { context: 'c', server: `https://127.0.0.1:${cluster.port}/k8s/clusters/c-1`, ca: made.pki.ca, insecureSkipTlsVerify: true };
    const newKey = () => randomBytes(32).toString('base64url');
    ui = await startUiServer({
      cluster: at,
      reload: async () => at,
      version: 'test',
      namespace: 'default',
      files: () => new Map(),
      port: 0,
      keys: { link: newKey(), session: newKey() },
      clock: systemClock,
      log: silentLogger,
    });
    const entered = await fetch(ui.link(), { redirect: 'manual' });
    cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  });
  after(async () => {
    await ui.close();
    await cluster.close();
    await remove();
  });

  function begin(headers: Record<string, string>): ClientRequest {
    const origin = `http://127.0.0.1:${ui.port}`;
    return httpRequest(`${origin}/apis/subresources.kubevirt.io/v1/namespaces/default/persistentvolumeclaims/disk/upload`, {
      method: 'PUT',
      headers: { origin, cookie, ...headers },
    });
  }

  /** Writes until nobody takes more for a while; how much was taken. */
  async function fill(sending: ClientRequest, bytes: number): Promise<number> {
    const chunk = Buffer.alloc(MIB / 4);
    for (let taken = 0; ; taken += chunk.length) {
      if (taken === bytes) return taken;
      if (sending.write(chunk)) continue;
      const isFree = await Promise.race([once(sending, 'drain').then(() => true), pause(700, false)]);
      if (!isFree) return taken + chunk.length;
    }
  }

  test('is never held as a whole: who sends waits for who reads, and then all of it arrives', async () => {
    const sending = begin({
      'content-length': String(SENT),
      'content-range': `bytes 0-${SENT - 1}/${2 * SENT}`,
      'x-kubevirt-sha256': 'abc',
      'impersonate-user': 'system:admin',
    });
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
    const taken = await fill(sending, SENT);
    assert.ok(taken < MOST_ON_THE_WAY, `${taken} bytes were taken while nobody read`);
    mayRead.resolve();
    for (let rest = SENT - taken; rest > 0; rest -= MIB / 4) if (!sending.write(Buffer.alloc(MIB / 4))) await once(sending, 'drain');
    sending.end();
    const [response] = await answered;
    assert.deepEqual(JSON.parse(Buffer.concat(await response.toArray()).toString()), { stage: 'receiving', receivedBytes: SENT });
    assert.deepEqual(heard, [
      {
        method: 'PUT',
        path: '/k8s/clusters/c-1/apis/subresources.kubevirt.io/v1/namespaces/default/persistentvolumeclaims/disk/upload',
        'content-length': String(SENT),
        'content-range': `bytes 0-${SENT - 1}/${2 * SENT}`,
        'x-kubevirt-sha256': 'abc',
        'impersonate-user': null,
        cookie: null,
      },
    ]);
  });

  test('ends at the cluster when its browser leaves', async () => {
    const sending = begin({ 'content-length': String(SENT), 'content-range': `bytes 0-${SENT - 1}/${SENT}` });
    sending.on('error', () => {});
    const before = heard.length;
    sending.write(Buffer.alloc(MIB));
    while (heard.length === before) await pause(10);
    sending.destroy();
    await left;
    assert.ok(readBytes <= MIB);
  });

  test('a console of a server below a path is asked for there', async () => {
    const origin = `http://127.0.0.1:${ui.port}`;
    const path = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/a/console';
    const headers = {
      origin,
      cookie,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'a',
      'sec-websocket-version': '13',
    };
    const [response] = await once(httpRequest(`${origin}${path}`, { headers }).end(), 'response');
    assert.deepEqual([response.statusCode, tunnelled], [409, [`/k8s/clusters/c-1${path}`]]);
    response.destroy();
  });
});

const NAMES = ['content-length', 'content-range', 'x-kubevirt-sha256', 'impersonate-user', 'cookie'];

test('a page that is no longer known reads its kubeconfig again: certificates are replaced while it serves', async (t) => {
  const { pki, remove } = await temporaryPki();
  t.after(remove);
  const server = await startWebServer({
    serving: pki.apiServer,
    clientCa: pki.ca,
    host: '127.0.0.1',
    port: 0,
    log: silentLogger,
    handle: async ({ headers }) => new Response('', { status: headers.get('authorization') === 'Bearer new' ? 200 : 401 }),
  });
  t.after(() => server.close());
  const as = (token: string) => ({ context: 'c', server: `https://127.0.0.1:${server.port}`, ca: pki.ca, token });
  let reads = 0;
  const { ask } = createPassOn({
    cluster: as('old'),
    reload: async () => {
      reads += 1;
      return as('new');
    },
  });
  const statuses = [];
  for (const token of ["a browser's own", undefined, undefined]) statuses.push([(await ask('/api', {}, token)).status, reads]);
  assert.deepEqual(statuses, [
    [401, 0],
    [401, 1],
    [200, 1],
  ]);
});

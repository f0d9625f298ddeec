import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { createClient } from '../../client/client.ts';
import { runServiceProxy } from './proxy.ts';

const ADDRESS = '127.96.0.9';
const PORT = 28_080;

async function echoing(host: string, greeting: string): Promise<Server> {
  const server = createServer((socket) => socket.end(greeting)).listen(PORT, host);
  await once(server, 'listening');
  return server;
}

async function read(): Promise<string> {
  const socket = connect(PORT, ADDRESS);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

/** A Service whose endpoints have these addresses. */
function serve(endpoints: readonly string[]) {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', resourceVersion: '1' },
    spec: { clusterIP: ADDRESS, ports: [{ port: PORT }] },
  };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-1', namespace: 'default', resourceVersion: '1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ port: PORT }],
    endpoints: endpoints.map((address) => ({ addresses: [address] })),
  };
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (searchParams.get('watch')) return new Response(new ReadableStream()); // nothing changes
    const items = pathname.endsWith('/services') ? [service] : [slice];
    return Response.json({ apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items });
  };
  const stop = new AbortController();
  const client = createClient({ fetch, baseUrl: 'https://kubernetes.default.svc', userAgent: 'test' });
  const stopped = runServiceProxy({
    client,
    clock: systemClock,
    log: silentLogger,
    signal: stop.signal,
    hasClusterAddresses: true,
    nodeAddress: '127.0.0.1',
    isServiceAddress: (address) => address === ADDRESS,
  });
  return { stop, stopped };
}

test('connections to a Service go to its endpoints in turn, and past one that does not answer', async (t) => {
  const backends = await Promise.all([echoing('127.244.9.2', 'a'), echoing('127.244.9.3', 'b')]); // nobody at the third
  const { stop, stopped } = serve(['127.244.9.2', '127.244.9.3', '127.244.9.4']);
  t.after(() => {
    for (const backend of backends) backend.close();
  });
  let first = '';
  while (first === '') first = await read().catch(() => systemClock.sleep(5).then(() => '')); // until it listens
  const answers = [first, await read(), await read(), await read()];
  assert.deepEqual(answers, ['a', 'b', 'a', 'a']); // the third has nobody, so the next in turn answers
  stop.abort();
  await stopped;
  await assert.rejects(read(), { code: 'ECONNREFUSED' });
});

test('a guest that refuses a connection, which its network has taken already, resets it for the client of a Service, too', async (t) => {
  const front = createServer((socket) => socket.end()).listen(PORT, '127.244.9.2');
  await once(front, 'listening');
  const { stop, stopped } = serve(['127.244.9.2']);
  t.after(async () => {
    front.close();
    stop.abort();
    await stopped;
  });
  let code = '';
  while (code === '' || code === 'ECONNREFUSED') code = await read().then(String, (error: NodeJS.ErrnoException) => error.code ?? ''); // until it listens
  assert.equal(code, 'ECONNRESET');
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { PodPortForwards } from './forwards.ts';
import type { GuestConnection } from './guest-port.ts';

/** Addresses of the loopback that nothing else uses. */
const POD = '127.77.1.1';
const GUEST = '127.77.1.2';
const PORT = 20_180;

/** A guest that says hello once its client has said all. */
async function guest(t: TestContext): Promise<(port: number) => Promise<GuestConnection>> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    void text(socket).then((said) => socket.end(`hello ${said}`));
  }).listen(PORT, GUEST);
  t.after(() => server.close());
  await once(server, 'listening');
  return async (port) => {
    const stream = connect({ host: GUEST, port, allowHalfOpen: true });
    await once(stream, 'connect');
    return { stream, canHalfClose: true };
  };
}

async function ask(words: string): Promise<string> {
  const socket: Socket = connect({ host: POD, port: PORT, allowHalfOpen: true });
  socket.end(words);
  return text(socket);
}

test('a hundred connections at once reach the machine, none is refused', async (t) => {
  const forwards = new PodPortForwards({ address: POD, open: await guest(t), log: silentLogger });
  t.after(() => forwards.close());
  await forwards.keep([PORT]);
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => ask(`${i}`)));
  assert.deepEqual(
    answers,
    Array.from({ length: 100 }, (_, i) => `hello ${i}`),
  );
});

test('a connection that comes before the machine is held, not refused', async (t) => {
  const open = await guest(t);
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const forwards = new PodPortForwards({ address: POD, open: (port) => ready.then(() => open(port)), log: silentLogger });
  t.after(() => forwards.close());
  await forwards.keep([PORT]);
  const answer = ask('early');
  resolve();
  assert.equal(await answer, 'hello early');
});

test('a port is closed when no Service wants it any more, and one that is taken is told and tried again', async (t) => {
  const forwards = new PodPortForwards({ address: POD, open: await guest(t), log: silentLogger });
  t.after(() => forwards.close());
  const taken = createServer().listen(PORT, POD);
  await once(taken, 'listening');
  await forwards.keep([PORT]);
  assert.match(forwards.failures[0] ?? '', /cannot listen on 127\.77\.1\.1:20180: .*EADDRINUSE/);
  taken.close();
  await once(taken, 'close');
  await forwards.keep([PORT]);
  assert.deepEqual(forwards.failures, []);
  assert.equal(await ask('now'), 'hello now');
  await forwards.keep([]);
  await assert.rejects(ask('late'), { code: 'ECONNREFUSED' });
});

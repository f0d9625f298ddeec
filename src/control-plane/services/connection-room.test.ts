import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { ConnectionRoom } from './connection-room.ts';
import { TargetChoice } from './target-choice.ts';
import { openTcpListener } from './tcp-listener.ts';

const HOST = '127.96.0.11';
const [PORT, BACKEND] = [28_090, 28_091];

test('a namespace has a share of the connections, and what has ended makes room', () => {
  const room = new ConnectionRoom({ ofOne: 2, ofAll: 3 });
  const [first, second] = [room.enter('a'), room.enter('a')];
  assert.ok(first && second);
  assert.equal(room.enter('a'), undefined);
  assert.ok(room.enter('b'));
  assert.equal(room.enter('c'), undefined);
  first();
  first();
  assert.ok(room.enter('c'));
  assert.equal(room.enter('a'), undefined);
});

test('a Service that has all connections that it may have refuses the next, and takes one when one has ended', async (t) => {
  const backend = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(BACKEND, HOST);
  await once(backend, 'listening');
  const choice = new TargetChoice(systemClock);
  choice.set({ targets: [{ host: HOST, port: BACKEND }] });
  const room = new ConnectionRoom({ ofOne: 2, ofAll: 2 });
  const listening = Promise.withResolvers<void>();
  const onError = listening.reject;
  const listener = openTcpListener({
    host: HOST,
    port: PORT,
    choice,
    clock: systemClock,
    onError,
    onListening: listening.resolve,
    enter: () => room.enter('a'),
  });
  await listening.promise;
  t.after(() => {
    listener.destroy();
    backend.close();
  });
  /** What it says back, or why it does not. */
  const greet = (): Promise<{ socket: Socket; said: string }> =>
    new Promise((resolve) => {
      const socket = connect(PORT, HOST, () => socket.write('x'));
      socket.once('data', (data) => resolve({ socket, said: data.toString() }));
      socket.on('error', (error: NodeJS.ErrnoException) => resolve({ socket, said: error.code ?? '' }));
    });
  const held = [await greet(), await greet()];
  assert.deepEqual(
    [...held, await greet()].map(({ said }) => said),
    ['x', 'x', 'ECONNRESET'],
  );
  held[0]?.socket.destroy();
  let last = await greet();
  while (last.said !== 'x') last = await greet(); // until the listener has seen the end
  for (const { socket } of [...held, last]) socket.destroy();
});

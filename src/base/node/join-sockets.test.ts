import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { until } from '../../testing/until.ts';
import { joinSockets } from './join-sockets.ts';

const MIB = 1024 * 1024;

test('all bytes arrive, and the end of one side ends the other when it has them', async (t) => {
  const [outer, a] = await pair(t);
  const [b, inner] = await pair(t);
  joinSockets(a, b);
  const there = randomBytes(8 * MIB);
  inner.write('back');
  assert.equal(String((await once(outer, 'data'))[0]), 'back');
  outer.end(there);
  assert.ok(there.equals(await buffer(inner)));
  await until(() => a.destroyed && b.destroyed);
});

test('a side that does not read holds the other one', async (t) => {
  const [outer, a] = await pair(t);
  const taken: Buffer[] = [];
  const slow = new Duplex({ read() {}, write: (piece, _, done) => void (taken.push(piece) > 1_000_000 && done()) });
  joinSockets(a, slow);
  outer.write(Buffer.alloc(64 * MIB));
  await until(() => a.isPaused());
  assert.ok(a.bytesRead <= 2 * MIB, `${a.bytesRead} bytes were read`);
});

test('a broken side breaks the other', async (t) => {
  for (const breaks of ['first', 'second', 'already'] as const) {
    const [, a] = await pair(t);
    const [b] = await pair(t);
    if (breaks === 'already') b.destroy();
    joinSockets(a, b);
    if (breaks !== 'already') (breaks === 'first' ? a : b).destroy(new Error('reset'));
    await until(() => a.destroyed && b.destroyed);
  }
});

test('the memory of a piece is given back when it was written, unless somebody else has a part in it', async () => {
  const written: string[] = [];
  const from = new Duplex({ read() {}, write: (_, __, done) => done() });
  const to = new Duplex({
    read() {},
    write(piece, _, done) {
      written.push(String(piece));
      done();
    },
  });
  joinSockets(from, to);
  const [own, shared] = [Buffer.from(new ArrayBuffer(3)).fill('a'), Buffer.from(new ArrayBuffer(8)).fill('b')];
  from.push(own);
  from.push(shared.subarray(0, 3));
  await until(() => written.length === 2);
  await until(() => own.length === 0);
  assert.deepEqual([written, own.buffer.byteLength, shared.length], [['aaa', 'bbb'], 0, 8]);
});

/** Two ends of one connection. */
async function pair(t: TestContext): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [accepted] = (await once(server, 'connection')) as [Socket];
  server.close();
  for (const socket of [client, accepted]) socket.on('error', () => {});
  t.after(() => [client, accepted].forEach((socket) => socket.destroy()));
  return [client, accepted];
}

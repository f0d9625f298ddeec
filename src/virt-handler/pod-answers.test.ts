import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { answersOf } from './pod-answers.ts';

type Said = { readonly ready?: boolean; readonly written?: number };

/** What a Pod says, at a real socket. */
async function podThatSays(t: TestContext, ...words: readonly string[]) {
  const server = createServer((pod) => words.forEach((each) => void pod.write(each)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number }; // of a TCP socket
  const socket: Socket = createConnection(port, '127.0.0.1');
  t.after(() => socket.destroy());
  t.after(() => server.close());
  return { ...answersOf<Said>(socket), socket };
}

test('two lines are two answers, however they arrive', async (t) => {
  const { first, last } = await podThatSays(t, '{"rea', 'dy":true}\n{"written"', ':7}\n');
  assert.deepEqual([await first, await last], [{ ready: true }, { written: 7 }]);
});

for (const [what, words] of [
  ['what is no JSON', 'ready!\n'],
  ['what is no object', 'null\n'],
  ['a line without an end', 'x'.repeat(5_000)],
  ['a line that is too long', `${JSON.stringify({ ready: 'x'.repeat(5_000) })}\n`],
] as const)
  test(`${what} leaves nobody waiting, and ends the connection`, { timeout: 10_000 }, async (t) => {
    const { first, last, socket } = await podThatSays(t, words);
    await assert.rejects(first, /the Pod that writes it said/);
    await assert.rejects(last, /the Pod that writes it said/);
    assert.equal(socket.destroyed, true);
  });

test('a second answer that is broken reaches who waits for it', { timeout: 10_000 }, async (t) => {
  const { first, last } = await podThatSays(t, '{"ready":true}\n', 'written!\n');
  assert.deepEqual(await first, { ready: true });
  await assert.rejects(last, /said what is no answer/);
});

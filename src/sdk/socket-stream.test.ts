import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StreamSocket, streamOf } from './socket-stream.ts';

/** What a test does to a socket is what its other side does. */
function fakeSocket() {
  const listeners: Record<string, (event: never) => void> = {};
  const seen: string[] = [];
  const socket: StreamSocket = {
    binaryType: '',
    bufferedAmount: 0,
    send: (bytes) => seen.push(new TextDecoder().decode(bytes)),
    close: () => seen.push('closed'),
    pause: () => seen.push('paused'),
    resume: () => seen.push('resumed'),
    addEventListener: (type: string, listener: (event: never) => void) => {
      listeners[type] = listener;
    },
  };
  const bytes = (text: string) => new TextEncoder().encode(text).buffer;
  return {
    socket,
    seen,
    says: (data: unknown) => listeners['message']?.({ data: typeof data === 'string' ? bytes(data) : data } as never),
    saysText: (data: string) => listeners['message']?.({ data } as never),
    ends: (code: number, reason = '') => listeners['close']?.({ code, reason } as never),
  };
}

test('bytes go both ways, and text is left out', async () => {
  const { socket, seen, says, saysText, ends } = fakeSocket();
  const { readable, writable } = streamOf(socket);
  says('one ');
  saysText('not for readers');
  says('two');
  ends(1000);
  assert.equal(await new Response(readable).text(), 'one two');
  await assert.rejects(writable.getWriter().write(new Uint8Array(1)), /closed/);
  assert.equal(seen.includes('paused'), false);
});

test('a connection that breaks is an error of the reader', async () => {
  const { socket, says, ends } = fakeSocket();
  const { readable } = streamOf(socket);
  says('half');
  ends(1006);
  await assert.rejects(new Response(readable).text());
});

test('who does not read stops the other side, and who reads on lets it go on', async () => {
  const { socket, seen, says } = fakeSocket();
  const { readable, close } = streamOf(socket);
  says('x'.repeat(300_000));
  assert.equal(seen.at(-1), 'paused');
  const reader = readable.getReader();
  assert.equal((await reader.read()).value?.length, 300_000);
  assert.equal(seen.at(-1), 'resumed');
  close();
  assert.equal(seen.at(-1), 'closed');
});

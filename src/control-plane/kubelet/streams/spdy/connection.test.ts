import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { constants, deflateSync } from 'node:zlib';
import { systemClock } from '../../../../base/clock.ts';
import { until } from '../../../../testing/until.ts';
import { openSpdyConnection, type SpdyStream } from './connection.ts';
import { dataFrame } from './frames.ts';
import { HEADER_DICTIONARY } from './header-dictionary.ts';

function serve(t: TestContext) {
  const [client, wire] = duplexPair();
  const streams: SpdyStream[] = [];
  const { gone } = openSpdyConnection({ wire, clock: systemClock, onStream: (stream) => void streams.push(stream) });
  t.after(() => wire.destroy());
  client.on('error', () => {});
  client.resume();
  return { client, wire, streams, gone };
}

function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/** A SYN_STREAM; its headers begin a context. */
function open(stream: number, headers: Buffer): Buffer {
  const block = deflateSync(headers, { dictionary: HEADER_DICTIONARY, finishFlush: constants.Z_SYNC_FLUSH });
  const body = Buffer.concat([uint32(stream, 0), Buffer.alloc(2), block]);
  return Buffer.concat([uint32(0x80030001, body.length), body]);
}

function header(name: string, value: string): Buffer {
  return Buffer.concat([uint32(name.length), Buffer.from(name), uint32(value.length), Buffer.from(value)]);
}

const BAD: readonly [what: string, bytes: Buffer][] = [
  ['what is no SPDY', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ['another version', uint32(0x80020001, 0)],
  ['a frame that is larger than anybody needs', uint32(1, 0x00ffffff)],
  ['a control frame without its body', uint32(0x80030003, 0)],
  ['headers that are small on the wire and megabytes in memory', open(1, Buffer.alloc(8_000_000))],
  ['headers that promise more than there is', open(1, uint32(3, 0xffffff))],
  ['headers that are not compressed', Buffer.concat([uint32(0x80030001, 14, 1, 0), Buffer.from('garbage')])],
  ['a stream with a number of the server', open(2, uint32(0))],
];

for (const [what, bytes] of BAD)
  test(`${what} ends the connection`, async (t) => {
    const { client, gone, streams } = serve(t);
    client.write(bytes);
    await until(() => gone.aborted, 'the end of the connection');
    assert.deepEqual(streams, []);
  });

test('a client that left before it was let in leaves nothing behind', async () => {
  const [, wire] = duplexPair();
  wire.destroy();
  await once(wire, 'close');
  const { gone } = openSpdyConnection({ wire, clock: systemClock, onStream: () => {} });
  assert.ok(gone.aborted);
});

test('a stream has its headers, whatever pieces they come in, and its bytes', async (t) => {
  const { client, streams } = serve(t);
  const bytes = Buffer.concat([
    open(1, Buffer.concat([uint32(1), header('streamType', 'data')])),
    dataFrame(1, Buffer.from('hello'), true),
  ]);
  for (const byte of bytes) client.write(Buffer.of(byte));
  await until(() => streams.length === 1, 'the stream');
  const [stream] = streams;
  assert.equal(stream?.headers.get('streamtype'), 'data');
  assert.equal(Buffer.concat(await Array.fromAsync(stream ?? [])).toString('utf8'), 'hello');
});

test('a stream that nobody reads holds its client back', async (t) => {
  const { client, wire, streams } = serve(t);
  client.write(open(1, uint32(0)));
  await until(() => streams.length === 1, 'the stream');
  let sent = 0;
  while (sent < 1000 && client.write(dataFrame(1, Buffer.alloc(16 * 1024), false))) {
    sent += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(sent < 100, `${sent} frames were taken`);
  assert.ok((streams[0]?.readableLength ?? 0) + wire.readableLength < 1_000_000);
});

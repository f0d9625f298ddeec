/**
 * exec and attach over a WebSocket: each message is a byte that says which channel, and what is said there.
 *
 *   0 stdin   1 stdout   2 stderr   3 how it went, a Status   4 size of the terminal, JSON   255 (v5) the channel in the next byte has ended
 */
import { Readable, Writable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { type ClientStreams, readSize, type TerminalSize, type WantedStreams } from './client-streams.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const RESIZE = 4;
const CLOSE = 255;
const NORMAL_CLOSURE = 1000;
const MAX_RESIZE_BYTES = 200;

export function openWebSocketChannels(webSocket: WebSocket, wanted: WantedStreams): ClientStreams {
  const gone = new AbortController();
  const resized: ((size: TerminalSize) => void)[] = [];
  // What the process is slow to take is not read from the network either.
  const stdin = wanted.stdin ? new Readable({ read: () => webSocket.resume() }) : undefined;
  const end = () => {
    if (stdin && !stdin.readableEnded && !stdin.destroyed) stdin.push(null);
  };
  webSocket.on('message', (data) => {
    const message = bytesOf(data);
    const said = message.subarray(1);
    if (message[0] === STDIN && stdin && said.length > 0 && !stdin.push(said)) webSocket.pause();
    if (message[0] === CLOSE && said[0] === STDIN) end();
    const size = message[0] === RESIZE && said.length < MAX_RESIZE_BYTES ? readSize(said.toString('utf8')) : undefined;
    if (size) for (const listener of resized) listener(size);
  });
  webSocket.on('error', () => webSocket.terminate());
  webSocket.once('close', () => {
    end();
    gone.abort();
  });
  return {
    stdin,
    stdout: wanted.stdout ? channel(webSocket, STDOUT) : undefined,
    stderr: wanted.stderr && !wanted.tty ? channel(webSocket, STDERR) : undefined,
    onResize: (listener) => void resized.push(listener),
    gone: gone.signal,
    async finish(status) {
      await send(webSocket, STATUS, Buffer.from(JSON.stringify(status)));
      webSocket.resume(); // or the answer to our goodbye is never read
      webSocket.close(NORMAL_CLOSURE);
    },
  };
}

/** A chunk is done when the network has taken it: whoever writes waits for a client that is slow. */
function channel(webSocket: WebSocket, number: number): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      void send(webSocket, number, chunk).then(() => done());
    },
  });
}

/** What cannot be sent any more is lost: the client is gone, and that is noticed elsewhere. */
function send(webSocket: WebSocket, number: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => webSocket.send(Buffer.concat([Buffer.of(number), bytes]), { binary: true }, () => resolve()));
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

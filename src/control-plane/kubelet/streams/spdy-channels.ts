/** exec and attach over SPDY/3.1, as kubectl speaks it up to 1.29: the client opens one stream for each thing it wants, and one for the outcome. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import { type ClientStreams, readSize, type TerminalSize, type WantedStreams } from './client-streams.ts';
import { openSpdyConnection, type SpdyStream } from './spdy/connection.ts';

const PATIENCE_MS = 30_000;
const MAX_RESIZE_BYTES = 200;

/** Resolves when the client has opened all that it has asked for; throws when it does not. */
export async function openSpdyChannels(wire: Duplex, wanted: WantedStreams, clock: Clock): Promise<ClientStreams> {
  const names = namesOf(wanted);
  const open = new Map<string, SpdyStream>();
  const complete = Promise.withResolvers<void>();
  const connection = openSpdyConnection({
    wire,
    clock,
    onStream(stream) {
      const name = stream.headers.get('streamtype') ?? '';
      if (!names.includes(name) || open.has(name)) return void stream.destroy();
      open.set(name, stream);
      if (open.size === names.length) complete.resolve();
    },
  });
  const fail = () => complete.reject(new Error('the client did not open its streams'));
  connection.gone.addEventListener('abort', fail, { once: true });
  const decided = new AbortController();
  void clock.sleep(PATIENCE_MS, decided.signal).then(fail);
  try {
    await complete.promise;
  } catch (error) {
    wire.destroy();
    throw error;
  } finally {
    decided.abort();
  }
  return {
    stdin: open.get('stdin'),
    stdout: open.get('stdout'),
    stderr: open.get('stderr'),
    onResize: (listener) => followSizes(open.get('resize'), listener),
    gone: connection.gone,
    async finish(status) {
      open.get('error')?.write(JSON.stringify(status));
      await Promise.all([...open.values()].map(ended));
      connection.end();
    },
  };
}

function namesOf({ stdin, stdout, stderr, tty }: WantedStreams): string[] {
  const asked = { error: true, stdin, stdout, stderr: stderr && !tty, resize: tty };
  return Object.entries(asked).flatMap(([name, isAsked]) => (isAsked ? [name] : []));
}

/** One JSON text after the other, as they come. */
function followSizes(stream: SpdyStream | undefined, listener: (size: TerminalSize) => void): void {
  let text = '';
  stream?.on('data', (chunk: Buffer) => {
    text = `${text}${chunk}`.slice(-MAX_RESIZE_BYTES);
    const last = /.*(\{[^{}]*\})/s.exec(text)?.[1];
    const size = last === undefined ? undefined : readSize(last);
    if (size) listener(size);
  });
}

function ended(stream: SpdyStream): Promise<void> {
  if (stream.writableFinished || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('finish', resolve).once('close', resolve);
    if (!stream.writableEnded) stream.end();
  });
}

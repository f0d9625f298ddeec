/** Joins a container that runs and a client, until the one has ended or the other is gone. The container goes on without the client. */
import { Readable, type Writable } from 'node:stream';
import type { ClientStreams, TerminalSize } from './client-streams.ts';

export type Attached = {
  /** What the container prints, until it has ended or the signal aborts. */
  readonly output: (signal: AbortSignal) => AsyncIterable<Buffer>;
  /** What it reads; undefined when the client has nothing to say. */
  readonly stdin: Writable | undefined;
  readonly resize: (size: TerminalSize) => void;
};

/** Resolves when the client has been told that it is over. */
export async function runAttach({ output, stdin, resize }: Attached, streams: ClientStreams): Promise<void> {
  const { gone } = streams;
  streams.onResize(resize);
  if (stdin) streams.stdin?.pipe(stdin);
  else streams.stdin?.resume();
  const said = Readable.from(output(gone));
  const to = streams.stdout ?? streams.stderr;
  const isOver = new Promise<void>((resolve, reject) => {
    said.once('error', reject).once('close', resolve);
    gone.addEventListener('abort', () => said.destroy(), { once: true });
    if (gone.aborted) said.destroy();
  });
  const isTaken = to && new Promise<void>((resolve) => to.once('finish', resolve).once('close', resolve));
  if (to) said.pipe(to);
  else said.resume();
  try {
    await isOver;
    if (!gone.aborted) await isTaken;
  } finally {
    stdin?.destroy();
  }
  await streams.finish({ metadata: {}, status: 'Success' });
}

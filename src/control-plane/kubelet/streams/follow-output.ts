/** What a container prints, as it prints it: its output goes to a file, and whoever is attached reads along. */
import { watch } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Clock } from '../../../base/clock.ts';
import { lineStart } from '../log-times.ts';

type Options = {
  readonly log: string;
  readonly from: number;
  readonly isOver: () => boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

const CHUNK_BYTES = 64 * 1024;
/** The file tells of every write; this is for the end of the container, and for file systems that tell nothing. */
const LOOK_MS = 200;

/** Where the line begins that is not finished yet: a prompt, in most cases. */
export async function unfinishedLine(log: string): Promise<number> {
  return lineStart(log, (await stat(log)).size);
}

/** Ends with the container or the signal. */
export async function* followOutput({ log, from, isOver, clock, signal }: Options): AsyncGenerator<Buffer> {
  const file = await open(log, 'r');
  let wake = () => {};
  const watcher = watch(log, () => wake());
  watcher.on('error', () => {}); // then there are the looks
  try {
    let position = from;
    while (!signal.aborted) {
      const woken = new AbortController();
      wake = () => woken.abort();
      const wasOver = isOver(); // asked before reading: what was written until then is read below
      if ((await file.stat()).size < position) position = 0; // it was cut
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
      position += bytesRead;
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      else if (wasOver) return;
      else await clock.sleep(LOOK_MS, AbortSignal.any([signal, woken.signal]));
    }
  } finally {
    watcher.close();
    await file.close();
  }
}

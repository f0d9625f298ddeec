/** The lines of a file that grows, as `tail -f` shows them. */
import { open } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';

export type FollowOptions = {
  readonly path: string;
  /** Otherwise it ends where the file ends. */
  readonly isFollowed: boolean;
  /** Where to begin; 0 when not given. */
  readonly fromByte?: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
};

const LOOK_EVERY_MS = 200;
const PIECE_BYTES = 64 * 1024;

/** What is there, a list of lines per piece, and then what is added until the signal aborts. A file that got shorter is read from its start. */
export async function* fileLines({ path, isFollowed, fromByte = 0, clock, signal }: FollowOptions): AsyncIterable<readonly string[]> {
  const file = await open(path, 'r');
  const decoder = new TextDecoder();
  const piece = Buffer.alloc(PIECE_BYTES);
  let at = fromByte;
  let begun = '';
  try {
    while (!signal?.aborted) {
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, at);
      at += bytesRead;
      const lines = (begun + decoder.decode(piece.subarray(0, bytesRead), { stream: true })).split('\n');
      begun = lines.pop() ?? '';
      if (lines.length > 0) yield lines;
      if (bytesRead > 0) continue;
      if (!isFollowed) break;
      if ((await file.stat()).size < at) at = 0;
      else await clock.sleep(LOOK_EVERY_MS, signal);
    }
    if (begun !== '') yield [begun];
  } finally {
    await file.close();
  }
}

/** The files that containers write their output to, one per run, none of which grows for ever. */
import { closeSync, copyFileSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { noteLogTime } from './log-times.ts';
import { containerDir } from './pod-folder.ts';

/** As upstream's containerLogMaxSize. */
const MAX_BYTES = 10 * 2 ** 20;

export function containerLogPath(dir: string, container: string, restartCount: number): string {
  return join(containerDir(dir, container), `${restartCount}.log`);
}

/** Keeps the logs of this run and of the one before. */
export async function removeOldLogs(dir: string, container: string, restartCount: number): Promise<void> {
  const old = containerLogPath(dir, container, restartCount - 2);
  for (const path of [old, `${old}.1`, `${old}.times`]) await rm(path, { force: true });
}

/** Notes when it has grown, and moves what was written so far aside when it is too much; containers append, so they go on at the new beginning. */
export function lookAfterLog(dir: string, { name, restartCount }: { name: string; restartCount: number }, now: number): void {
  const path = containerLogPath(dir, name, restartCount);
  noteLogTime(path, now);
  const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (size <= MAX_BYTES) return;
  if (size <= 2 * MAX_BYTES) copyFileSync(path, `${path}.1`); // a flood is not worth keeping
  truncateSync(path);
}

/** As upstream's limits of a termination message that comes from the log. */
const LAST_WORDS = { bytes: 2048, lines: 80 } as const;

/** The end of what a run wrote; undefined when it wrote nothing. */
export function lastWords(dir: string, container: string, restartCount: number): string | undefined {
  try {
    const file = openSync(containerLogPath(dir, container, restartCount), 'r');
    try {
      const from = Math.max(0, fstatSync(file).size - LAST_WORDS.bytes);
      const buffer = Buffer.alloc(LAST_WORDS.bytes);
      const text = buffer.toString('utf8', 0, readSync(file, buffer, 0, LAST_WORDS.bytes, from));
      return (
        text
          .split('\n')
          .slice(-LAST_WORDS.lines - 1)
          .join('\n') || undefined
      );
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // how it ended is worth telling without
  }
}

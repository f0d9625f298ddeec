/** The files that containers write their output to, one per run, none of which grows for ever. */
import { copyFileSync, statSync, truncateSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { containerDir } from './pod-folder.ts';

/** As upstream's containerLogMaxSize. */
const MAX_BYTES = 10 * 2 ** 20;

export function logPath(dir: string, container: string, restartCount: number): string {
  return join(containerDir(dir, container), `${restartCount}.log`);
}

/** Keeps the logs of this run and of the one before. */
export async function removeOldLogs(dir: string, container: string, restartCount: number): Promise<void> {
  const old = logPath(dir, container, restartCount - 2);
  for (const path of [old, `${old}.1`]) await rm(path, { force: true });
}

/** Moves what was written so far aside when it is too much; containers append, so they go on at the new beginning. */
export function limitLog(dir: string, container: string, restartCount: number): void {
  const path = logPath(dir, container, restartCount);
  const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (size <= MAX_BYTES) return;
  if (size <= 2 * MAX_BYTES) copyFileSync(path, `${path}.1`); // a flood is not worth keeping
  truncateSync(path);
}

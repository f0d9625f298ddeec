/** Looks after a store while it is used: how far it has come is written beside it, its log is emptied, and copies are made, a few of which are kept. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Store } from './store.ts';

export type StoreKeeping = {
  readonly store: Store;
  /** Where the copies are. */
  readonly backupsDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

const MARK_EVERY_MS = 1_000;
const CHECKPOINT_EVERY_MS = 180_000;
const BACKUP_EVERY_MS = 3_600_000;
/** So soon after the start when there is none yet: not while everything else starts. */
const FIRST_BACKUP_AFTER_MS = 60_000;
const BACKUPS_KEPT = 4;
const BACKUP_NAME = /^store-.*\.db$/;

/** Runs until the signal aborts. What fails (a full disk, mostly) is said once and tried again at its next time. */
export async function keepStore({ store, backupsDir, clock, log, signal }: StoreKeeping): Promise<void> {
  const tasks: Task[] = [
    { name: 'mark', everyMs: MARK_EVERY_MS, dueMs: clock.steady(), run: () => store.mark() },
    { name: 'checkpoint', everyMs: CHECKPOINT_EVERY_MS, dueMs: clock.steady() + CHECKPOINT_EVERY_MS, run: async () => store.checkpoint() },
    {
      name: 'backup',
      everyMs: BACKUP_EVERY_MS,
      dueMs: clock.steady() + firstBackupAfterMs(backupsDir, clock.now()),
      run: () => backUp(store, backupsDir, clock),
    },
  ];
  const failing = new Set<string>();
  while (!signal.aborted) {
    for (const task of tasks) {
      if (task.dueMs > clock.steady()) continue;
      task.dueMs = clock.steady() + task.everyMs;
      try {
        await task.run();
        failing.delete(task.name);
      } catch (error) {
        if (!failing.has(task.name) && !signal.aborted) log.warn(`cannot ${WORDS[task.name]} the store, trying again`, { error });
        failing.add(task.name);
      }
    }
    await clock.sleep(MARK_EVERY_MS, signal);
  }
}

type Task = { readonly name: keyof typeof WORDS; readonly everyMs: number; dueMs: number; readonly run: () => Promise<void> };
const WORDS = { mark: 'write down the revision of', checkpoint: 'empty the log of', backup: 'back up' } as const;

/** A copy of the whole store; the oldest make room. */
async function backUp(store: Store, backupsDir: string, clock: Clock): Promise<void> {
  mkdirSync(backupsDir, { recursive: true, mode: 0o700 });
  const unfinished = join(backupsDir, 'unfinished');
  for (const part of ['', '-journal', '-wal', '-shm']) rmSync(unfinished + part, { force: true });
  try {
    await store.snapshot(unfinished);
    renameSync(unfinished, join(backupsDir, `store-${new Date(clock.now()).toISOString().replaceAll(':', '-')}.db`));
  } finally {
    rmSync(unfinished, { force: true });
  }
  for (const old of backupsIn(backupsDir).slice(0, -BACKUPS_KEPT)) rmSync(join(backupsDir, old), { force: true });
}

/** At most as long as always: a copy of tomorrow is one of before the clock was set. */
function firstBackupAfterMs(backupsDir: string, now: number): number {
  const newest = backupsIn(backupsDir).at(-1);
  if (newest === undefined) return FIRST_BACKUP_AFTER_MS;
  const restMs = statSync(join(backupsDir, newest)).mtimeMs + BACKUP_EVERY_MS - now;
  return Math.min(Math.max(FIRST_BACKUP_AFTER_MS, restMs), BACKUP_EVERY_MS);
}

/** Oldest first: their names are times. */
function backupsIn(backupsDir: string): string[] {
  try {
    return readdirSync(backupsDir)
      .filter((name) => BACKUP_NAME.test(name))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

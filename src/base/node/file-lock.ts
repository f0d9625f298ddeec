/**
 * One process at a time, told by a file. The lock is SQLite's, which the kernel takes back however its holder ends: there is nothing stale
 * that somebody would have to judge.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../clock.ts';
import { messageOf, UserError } from '../errors.ts';

const TRY_EVERY_MS = 50;
const SQLITE_BUSY = 5;

export type LockOptions = {
  readonly path: string;
  readonly clock: Clock;
  /** Told once when somebody else has it. */
  readonly onWaiting?: () => void;
  readonly signal?: AbortSignal;
};

/** Runs `work` while nobody else does who names the same file; waits for its turn. */
export async function withFileLock<Result>(options: LockOptions, work: () => Promise<Result>): Promise<Result> {
  const lock = await acquire(options);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function acquire({ path, clock, onWaiting = () => {}, signal }: LockOptions): Promise<DatabaseSync> {
  for (let isFirst = true; ; isFirst = false) {
    const lock = tryLock(path);
    if (lock) return lock;
    if (isFirst) onWaiting();
    await clock.sleep(TRY_EVERY_MS, signal);
    signal?.throwIfAborted();
  }
}

/**
 * The lock until it is closed; undefined when somebody else has it for all of `patienceMs`, in which nobody else gets a turn. Nothing is written, so
 * that a full disk does not matter.
 */
export function tryLock(path: string, patienceMs = 0): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: patienceMs });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw new UserError('LOCK_UNUSABLE', `${path} cannot be locked`, {
      why: messageOf(error),
      fix: 'a folder, or a file of another user, is in its place (ls -ld shows it): move it away, nothing is kept in it; a data folder belongs to the one user who starts its cluster',
      cause: error,
    });
  }
}

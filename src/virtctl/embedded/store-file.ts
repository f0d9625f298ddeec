/** The store of a stopped embedded cluster, and copies of it: looked at, copied, mended and put in place. */
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite';
import { messageOf, UserError } from '../../base/errors.ts';
import {
  createStoreTables,
  migrateStore,
  readStoreMeta,
  recordChecksum,
  STORE_FORMAT,
  storeFormatOf,
  writeStoreMeta,
} from '../../base/node/store-format.ts';
import { type StoreScan, scanStore } from '../../base/node/store-scan.ts';
import { readWatermark } from '../../base/node/store-watermark.ts';
import { explainSystemError } from '../../base/node/system-error.ts';

export type StoreContent = {
  readonly objects: number;
  readonly revision: number;
  /** Whose guests it knows. */
  readonly podUids: ReadonlySet<string>;
  readonly scan: StoreScan;
};

const LOGS = ['-wal', '-shm'] as const;
const PARTS = ['', ...LOGS] as const;
const PODS = 'core/pods/';

export function storePath(home: string): string {
  return join(home, 'store.db');
}

/** Removes a database with the files that SQLite puts beside it: a journal of one that was killed would be played back into the next of this name. */
export function removeStore(path: string): void {
  for (const part of [...PARTS, '-journal']) rmSync(path + part, { force: true });
}

/** Puts the database `next`, which is whole and on disk, in the place of the store. What was there is kept, with its log: a log that stayed behind would be taken for one of the new database. */
export function putInPlace(next: string, path: string): void {
  renameSync(next, readyPath(path));
  if (existsSync(path)) {
    for (const part of LOGS) rmSync(asidePath(path) + part, { force: true }); // of another one
    for (const part of PARTS) if (existsSync(path + part)) renameSync(path + part, asidePath(path) + part);
  } else for (const part of LOGS) rmSync(path + part, { force: true });
  renameSync(readyPath(path), path);
}

/** Undoes what `putInPlace` had done when it was killed: without this there would be no store, and the next `up` would begin an empty one. */
export function putBackWhatWasSetAside(path: string): void {
  if (!existsSync(readyPath(path))) return;
  // The database last: as long as it is not there this is not done.
  if (!existsSync(path) && existsSync(asidePath(path)))
    for (const part of PARTS.toReversed())
      if (existsSync(asidePath(path) + part) && !existsSync(path + part)) renameSync(asidePath(path) + part, path + part);
  rmSync(readyPath(path), { force: true });
}

function asidePath(path: string): string {
  return `${path}.before-restore`;
}

/** It is there for a moment only. */
function readyPath(path: string): string {
  return `${path}.ready`;
}

/** Copies a store that no cluster uses. One that was killed has part of its objects in the log beside the file: SQLite joins them. */
export async function copyStore(path: string, target: string): Promise<void> {
  await (await open(target, 'wx', 0o600)).close();
  const database = new DatabaseSync(path);
  try {
    await copyDatabase(database, target);
  } finally {
    database.close();
  }
}

/** What is in a store, in one pass over its records; throws BACKUP_DAMAGED when it is none, or not a whole one. */
export function inspectStore(path: string): StoreContent {
  try {
    return withDatabase(path, (database) => {
      const check = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
      if (check.quick_check !== 'ok') throw new Error(check.quick_check);
      const content = contentOf(database);
      const [damaged] = content.scan.damaged;
      if (damaged) throw new Error(`record ${damaged.revision} (${damaged.key}) does not match its checksum`);
      if (content.scan.unreadable !== undefined) throw new Error(content.scan.unreadable);
      database.exec('PRAGMA journal_mode = DELETE'); // one file, with nothing beside it
      return content;
    });
  } catch (error) {
    if (explainSystemError(error)) throw error; // that it cannot be looked at says nothing about it
    throw new UserError('BACKUP_DAMAGED', `${path} is not a backup of a cluster`, { why: messageOf(error), cause: error });
  }
}

export type StoreVerdict = { readonly records: number; readonly revision: number; readonly problems: readonly string[] };

/** What is wrong with a store, looked at in a copy: nothing about the store changes, not even when it is damaged. */
export function checkStore(path: string): StoreVerdict {
  const marked = readWatermark(path);
  return withCopy(path, `${path}.checked`, (database) => {
    const check = database.prepare('PRAGMA quick_check(5)').all() as { quick_check: string }[];
    const { scan, revision } = contentOf(database);
    const isBehind = marked && marked.clusterId === readStoreMeta(database, 'clusterId') && revision < marked.revision;
    const problems = [
      ...check.map((row) => row.quick_check).filter((line) => line !== 'ok'),
      ...scan.damaged.map((record) => `record ${record.revision} (${record.key}) does not match its checksum`),
      ...(scan.unreadable === undefined ? [] : [scan.unreadable]),
      ...(isBehind ? [`it ends at revision ${revision}, and had come to ${marked.revision}`] : []),
    ];
    if (problems.length > 0) problems.push(`all is well up to revision ${scan.wholeUpTo ?? 0}`);
    return { records: scan.whole, revision, problems };
  });
}

/**
 * Makes a copy the beginning of another history: whoever watched before has to read everything again, no version number is given out
 * twice, and guests that this store does not know are never taken for Pods that it has deleted. Returns its id.
 */
export function beginHistory(path: string, revision: number): string {
  const clusterId = randomUUID();
  withDatabase(path, (database) => {
    if (storeFormatOf(database) < STORE_FORMAT) migrateStore(database, clusterId);
    writeStoreMeta(database, 'clusterId', clusterId);
    writeStoreMeta(database, 'forgotten', revision);
    database.exec('PRAGMA journal_mode = DELETE');
  });
  return clusterId;
}

/** Writes every record of a damaged store that is still whole into a new one at `target`. The damaged one is not changed. */
export function salvageStore(path: string, target: string): StoreContent {
  try {
    return withDatabase(target, (kept) => {
      createStoreTables(kept, randomUUID());
      const insert = kept.prepare('INSERT INTO log (revision, key, value, checksum) VALUES (?, ?, ?, ?)');
      kept.exec('BEGIN');
      const scan = withCopy(path, `${target}-source`, (database) =>
        scanStore(database, ({ revision, key, text }) => insert.run(revision, key, text ?? null, recordChecksum(revision, key, text))),
      );
      kept.exec('COMMIT');
      return { ...contentOf(kept), scan };
    });
  } catch (error) {
    if (explainSystemError(error)) throw error;
    throw new UserError('NOTHING_TO_SALVAGE', `Nothing of ${path} can be read`, {
      why: messageOf(error),
      fix: 'virtctl restore FILE with a backup',
      cause: error,
    });
  }
}

/** On disk, content and (for a folder) names. */
export async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function contentOf(database: DatabaseSync): StoreContent {
  const current = new Map<string, string | undefined>();
  let revision = readStoreMeta(database, 'forgotten') ?? 0;
  const scan = scanStore(database, (record) => {
    revision = Math.max(revision, record.revision);
    if (record.text === undefined) current.delete(record.key);
    else current.set(record.key, record.key.startsWith(PODS) ? record.text : undefined);
  });
  const pods = [...current].flatMap(([, text]) => (text === undefined ? [] : [uidOf(text)]));
  return { objects: current.size, revision, podUids: new Set(pods), scan };
}

function uidOf(text: string): string {
  const { metadata } = JSON.parse(text) as { metadata?: { uid?: string } }; // whatever is in the log was made from an object
  return metadata?.uid ?? '';
}

/** With its log, which SQLite would otherwise write into the file. */
function withCopy<Result>(path: string, copy: string, work: (database: DatabaseSync) => Result): Result {
  removeStore(copy);
  try {
    for (const part of ['', '-wal'] as const) if (existsSync(path + part)) copyFileSync(path + part, copy + part);
    return withDatabase(copy, work);
  } finally {
    removeStore(copy);
  }
}

function withDatabase<Result>(path: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Opens the SQLite file of the store: one process at a time, checked, readable by its owner only. */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, UserError } from '../../base/errors.ts';
import { createStoreTables, migrateStore, STORE_FORMAT, storeFormatOf } from '../../base/node/store-format.ts';
import { scanStore } from '../../base/node/store-scan.ts';
import { readWatermark } from '../../base/node/store-watermark.ts';

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
export const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOT_A_DATABASE = 26;

/** The database, locked for this process; throws a UserError that names the way out when it cannot be used. */
export function openDatabase(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true });
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw notAFile(path);
  let database: DatabaseSync | undefined;
  try {
    closeSync(openSync(path, 'a', 0o600)); // SQLite would create it readable for others; the WAL file copies this mode
    database = new DatabaseSync(path);
    prepare(database, path, found !== undefined);
    return database;
  } catch (error) {
    database?.close();
    throw explain(error, path);
  }
}

function prepare(database: DatabaseSync, path: string, wasThere: boolean): void {
  // An exclusive lock is taken at the first access and kept until the process ends, however it ends. SQLite syncs its log before it moves it
  // into the file and when it begins it anew; that each commit is on disk before anybody hears of it is for the store to see to.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
  database.exec('BEGIN EXCLUSIVE; COMMIT;');
  const check = database.prepare('PRAGMA quick_check(5)').all() as { quick_check: string }[];
  if (check[0]?.quick_check !== 'ok') throw damaged(path, [...check.map((row) => row.quick_check), howFar(database)].join('; '));
  const format = storeFormatOf(database);
  if (format > STORE_FORMAT) {
    throw new UserError('STORE_TOO_NEW', `Cannot open the store ${path}`, {
      why: `it has format ${format}, this version reads up to format ${STORE_FORMAT}`,
      fix: 'run the version that wrote it, or a newer one',
    });
  }
  if (format === 0) create(database, path, wasThere);
  else if (format < STORE_FORMAT) migrate(database, path);
}

/** A file that was moved aside on purpose is not there; one that is there and empty has lost everything. */
function create(database: DatabaseSync, path: string, wasThere: boolean): void {
  const watermark = wasThere ? readWatermark(path) : undefined;
  if (watermark) throw damaged(path, `it is empty, and had come to revision ${watermark.revision}`);
  createStoreTables(database, randomUUID());
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // from now on a lost log beside it is told from a new store
}

/** Without checksums, JSON was all that could be told from damage; from now on it never has to be read for that. */
function migrate(database: DatabaseSync, path: string): void {
  const broken = database.prepare('SELECT revision FROM log WHERE value IS NOT NULL AND NOT json_valid(value) LIMIT 1').get();
  if (broken) throw damaged(path, `the value of revision ${broken['revision']} is not JSON`);
  keepCopy(database, path);
  migrateStore(database, randomUUID());
}

/** As it was, for the release that wrote it; the first one stays. */
function keepCopy(database: DatabaseSync, path: string): void {
  const folder = join(dirname(path), 'backups');
  const copy = join(folder, `before-format-${STORE_FORMAT}.db`);
  if (existsSync(copy)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unfinished = `${copy}.unfinished`;
  rmSync(unfinished, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600)); // SQLite would make it readable for others
  database.prepare('VACUUM INTO ?').run(unfinished);
  renameSync(unfinished, copy);
}

/** Whatever is wrong with the tables: up to where the log can be believed. */
function howFar(database: DatabaseSync): string {
  const { wholeUpTo } = scanStore(database);
  return wholeUpTo === undefined ? 'no record can be read' : `all is well up to revision ${wholeUpTo}`;
}

/** What is wrong with the file, for a person. */
export function damaged(path: string, why: string, cause?: unknown): UserError {
  return new UserError('STORE_DAMAGED', `The store ${path} is damaged`, {
    why,
    fix: `virtctl restore FILE with a backup (${dirname(path)}/backups has automatic ones), or virtctl restore --salvage for what is whole of it; or move ${path} and ${path}-wal aside to start with an empty cluster (disks and images are kept)`,
    cause,
  });
}

/** SQLite's own number of an error, undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' ? code & 0xff : undefined; // the low byte is the primary code, the rest says more about it
}

function explain(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  if (code === SQLITE_BUSY) {
    return new UserError('STORE_LOCKED', `The store ${path} is in use`, {
      why: 'another control plane runs on this data folder, and only one process may write to it',
      fix: `stop it (virtctl down; where that finds none, fuser ${path} names its process: kill that, guests run on), or choose another folder with VIRT_HOME`,
      cause: error,
    });
  }
  const isFull = code === SQLITE_FULL || (error as NodeJS.ErrnoException).code === 'ENOSPC';
  if (isFull) {
    return new UserError('DISK_FULL', `Cannot open the store ${path}`, {
      why: 'there is no space left on its disk',
      fix: `free some space below ${dirname(path)} and start again: nothing is lost`,
      cause: error,
    });
  }
  if (code === SQLITE_CANTOPEN) return cannotOpen(path, messageOf(error), error);
  const isDamage = code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE || code === SQLITE_ERROR; // the last: tables are not as we made them
  if (isDamage) return damaged(path, messageOf(error), error);
  return error;
}

function notAFile(path: string): UserError {
  return cannotOpen(path, 'something else than a file has its name');
}

function cannotOpen(path: string, why: string, cause?: unknown): UserError {
  return new UserError('STORE_UNUSABLE', `Cannot open the store ${path}`, {
    why,
    fix: `ls -ld ${path}*; move what is in the way aside, or choose another folder with VIRT_HOME`,
    cause,
  });
}

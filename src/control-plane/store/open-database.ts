/** Opens the SQLite file of the store: one process at a time, checked, durable at every commit, readable by its owner only. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, UserError } from '../../base/errors.ts';

const FORMAT = 1;
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOT_A_DATABASE = 26;

/** The database, locked for this process; throws a UserError that names the way out when it cannot be used. */
export function openDatabase(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true });
  closeSync(openSync(path, 'a', 0o600)); // SQLite would create it readable for others; the WAL file copies this mode
  const database = new DatabaseSync(path);
  try {
    prepare(database, path);
  } catch (error) {
    database.close();
    throw explain(error, path);
  }
  return database;
}

function prepare(database: DatabaseSync, path: string): void {
  // An exclusive lock is taken at the first access and kept until the process ends, however it ends.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec('BEGIN EXCLUSIVE; COMMIT;');
  const check = database.prepare('PRAGMA quick_check(5)').all() as { quick_check: string }[];
  if (check[0]?.quick_check !== 'ok') throw damaged(path, check.map((row) => row.quick_check).join('; '));
  const { user_version: format } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (format > FORMAT) {
    throw new UserError('STORE_TOO_NEW', `Cannot open the store ${path}`, {
      why: `it has format ${format}, this version reads up to format ${FORMAT}`,
      fix: 'run the version that wrote it, or a newer one',
    });
  }
  database.exec(`
    CREATE TABLE IF NOT EXISTS log (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT);
    CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    PRAGMA user_version = ${FORMAT};`);
}

/** What is wrong with the file, for a person. */
export function damaged(path: string, why: string, cause?: unknown): UserError {
  return new UserError('STORE_DAMAGED', `The store ${path} is damaged`, {
    why,
    fix: `restore it from a backup, or move ${path} and ${path}-wal aside to start with an empty cluster (disks and images are kept)`,
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
      fix: 'stop it (virtctl down), or choose another folder with VIRT_HOME',
      cause: error,
    });
  }
  if (code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE) return damaged(path, messageOf(error), error);
  return error;
}

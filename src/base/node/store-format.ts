/**
 * The file of the embedded store: what the control plane writes, and what `virtctl backup`, `restore` and `doctor --store` read.
 *
 *   log    one row per write in revision order; a row without a value is a deletion
 *   meta   `forgotten`, the newest revision whose changes are no longer complete, and `clusterId`, which history this is
 *
 * Every row carries a checksum of its own: SQLite notices a broken page, not a changed byte inside one.
 */
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

export const STORE_FORMAT = 2;

export type StoreMeta = { readonly forgotten: number; readonly clusterId: string };

/** What a record must carry: any other number means that revision, key or value are not those that were written. */
export function recordChecksum(revision: number, key: string, text: string | undefined): number {
  return crc32(text ?? '', crc32(`${revision}\n${key}\n${text === undefined ? 'deleted' : 'value'}\n`));
}

/** The tables of an empty store, all of them or none. */
export function createStoreTables(database: DatabaseSync, clusterId: string): void {
  database.exec(`BEGIN IMMEDIATE;
    CREATE TABLE log (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT, checksum INTEGER);
    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL, checksum INTEGER) WITHOUT ROWID;
    PRAGMA user_version = ${STORE_FORMAT};`);
  writeStoreMeta(database, 'clusterId', clusterId);
  database.exec('COMMIT');
}

/** Gives the rows of format 1 their checksums; nothing is changed when it fails. */
export function migrateStore(database: DatabaseSync, clusterId: string): void {
  database.function('record_checksum', { deterministic: true }, (revision, key, value) =>
    recordChecksum(Number(revision), String(key), value === null ? undefined : String(value)),
  );
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(`
      ALTER TABLE log ADD COLUMN checksum INTEGER;
      ALTER TABLE meta ADD COLUMN checksum INTEGER;
      UPDATE log SET checksum = record_checksum(revision, key, value);
      PRAGMA user_version = ${STORE_FORMAT};`);
    const forgotten = database.prepare("SELECT value FROM meta WHERE name = 'forgotten'").get()?.['value'];
    if (typeof forgotten === 'number') writeStoreMeta(database, 'forgotten', forgotten);
    writeStoreMeta(database, 'clusterId', clusterId);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The version of the tables; 0 for a database that has none. */
export function storeFormatOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
}

/** Undefined when it was never written; throws when it is not what was written. */
export function readStoreMeta<Name extends keyof StoreMeta>(database: DatabaseSync, name: Name): StoreMeta[Name] | undefined {
  const row = database.prepare('SELECT * FROM meta WHERE name = ?').get(name);
  if (!row) return undefined;
  const value = row['value'] as StoreMeta[Name]; // only writeStoreMeta writes there
  if ('checksum' in row && row['checksum'] !== metaChecksum(name, value)) throw new Error(`${name} does not match its checksum`);
  return value;
}

/** Statement and values of `writeStoreMeta`, for whoever writes it all the time. */
export const WRITE_STORE_META =
  'INSERT INTO meta (name, value, checksum) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value, checksum = excluded.checksum';

export function metaChecksum(name: keyof StoreMeta, value: string | number): number {
  return crc32(`${name}\n${value}`);
}

export function writeStoreMeta<Name extends keyof StoreMeta>(database: DatabaseSync, name: Name, value: StoreMeta[Name]): void {
  database.prepare(WRITE_STORE_META).run(name, value, metaChecksum(name, value));
}

/** The append-only log on disk: one row per write, in revision order; a row without a value is a deletion. */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { backup, type DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../base/errors.ts';
import { metaChecksum, readStoreMeta, recordChecksum, type StoreMeta, WRITE_STORE_META } from '../../base/node/store-format.ts';
import { isWhole, type StoredRecord } from '../../base/node/store-scan.ts';
import { damaged } from './open-database.ts';

export class LogTable {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #append;
  readonly #forget;
  readonly #setForgotten;
  /** SQLite's own log beside the file, opened before anything is written: whoever syncs it is told of every write to it that failed. */
  readonly #wal: number;
  #syncsUnderWay = 0;
  #isClosed = false;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#append = database.prepare('INSERT INTO log (revision, key, value, checksum) VALUES (?, ?, ?, ?)');
    this.#forget = database.prepare('DELETE FROM log WHERE revision = ?');
    this.#setForgotten = database.prepare(WRITE_STORE_META);
    this.#wal = openSync(`${path}-wal`, 'r');
  }

  /** The newest revision whose changes are no longer complete here. */
  forgotten(): number {
    return this.#meta('forgotten') ?? 0;
  }

  /** Which history this is: another one after a restore, or when the file was begun anew. */
  clusterId(): string {
    const id = this.#meta('clusterId');
    if (id === undefined) throw damaged(this.#path, 'it does not say which cluster it belongs to');
    return id;
  }

  /** Every row, oldest first; throws at the first that is not what was written. */
  *rows(): Iterable<StoredRecord> {
    const rows = this.#database.prepare('SELECT revision, key, value, checksum FROM log ORDER BY revision').iterate();
    let wholeUpTo = 0;
    for (const row of rows as Iterable<{ revision: number; key: string; value: string | null; checksum: number }>) {
      if (!isWhole(row)) throw this.#damagedAt(row, wholeUpTo);
      wholeUpTo = row.revision;
      yield { revision: row.revision, key: row.key, text: row.value ?? undefined };
    }
  }

  /** Runs `work` in one transaction; when this returns, all of it is written or none. It is on disk after the next sync. */
  transaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  append(revision: number, key: string, text: string | undefined): void {
    this.#append.run(revision, key, text ?? null, recordChecksum(revision, key, text));
  }

  /** Removes rows that no current value and no watch can need; `upTo` is the newest change that used one of them. */
  forget(revisions: readonly number[], upTo: number): void {
    for (const revision of revisions) this.#forget.run(revision);
    this.#setForgotten.run('forgotten', upTo, metaChecksum('forgotten', upTo));
  }

  /** Tells `done` when all that is committed is on disk: the disk takes its time, and the event loop goes on meanwhile. */
  sync(done: (error: unknown) => void): void {
    this.#syncsUnderWay += 1;
    fdatasync(this.#wal, (error) => {
      this.#syncsUnderWay -= 1;
      if (this.#isClosed) this.#closeWal();
      done(error ?? undefined);
    });
  }

  /** The same, and nothing else happens before it returns. */
  syncNow(): void {
    fdatasyncSync(this.#wal);
  }

  /** Copies everything that is committed into a database at `path`, while this one goes on. */
  async copyTo(path: string): Promise<void> {
    await backup(this.#database, path);
  }

  /** Moves what is in the log of SQLite into the file itself, where a lost log cannot take it along. */
  checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#isClosed = true;
    this.#closeWal();
    this.#database.close();
  }

  /** Not under a sync: its number could be that of another file by then. */
  #closeWal(): void {
    if (this.#syncsUnderWay === 0) closeSync(this.#wal);
  }

  #meta<Name extends keyof StoreMeta>(name: Name): StoreMeta[Name] | undefined {
    try {
      return readStoreMeta(this.#database, name);
    } catch (error) {
      throw damaged(this.#path, messageOf(error), error);
    }
  }

  #damagedAt({ revision, key }: { revision: number; key: string }, wholeUpTo: number): Error {
    return damaged(this.#path, `record ${revision} (${key}) does not match its checksum; all is well up to revision ${wholeUpTo}`);
  }
}

/** The append-only log on disk: one row per write, in revision order; a row without a value is a deletion. */
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

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#append = database.prepare('INSERT INTO log (revision, key, value, checksum) VALUES (?, ?, ?, ?)');
    this.#forget = database.prepare('DELETE FROM log WHERE revision = ?');
    this.#setForgotten = database.prepare(WRITE_STORE_META);
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

  /** Runs `work` in one transaction; when this returns, it is on disk. */
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

  /** Copies everything that is committed into a database at `path`, while this one goes on. */
  async copyTo(path: string): Promise<void> {
    await backup(this.#database, path);
  }

  /** Moves what is in the log of SQLite into the file itself, where a lost log cannot take it along. */
  checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#database.close();
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

/** The append-only log on disk: one row per write, in revision order; a row without a value is a deletion. */
import { backup, type DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../base/errors.ts';
import { damaged } from './open-database.ts';

export type LogRow = { readonly revision: number; readonly key: string; readonly text: string | undefined };

export class LogTable {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #append;
  readonly #forget;
  readonly #setForgotten;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#append = database.prepare('INSERT INTO log (revision, key, value) VALUES (?, ?, ?)');
    this.#forget = database.prepare('DELETE FROM log WHERE revision = ?');
    this.#setForgotten = database.prepare(
      "INSERT INTO meta (name, value) VALUES ('forgotten', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    );
  }

  /** The newest revision whose changes are no longer complete here. */
  forgotten(): number {
    const row = this.#database.prepare("SELECT value FROM meta WHERE name = 'forgotten'").get() as { value: number } | undefined;
    return row?.value ?? 0;
  }

  /** Every row, oldest first. */
  *rows(): Iterable<LogRow> {
    const rows = this.#database.prepare('SELECT revision, key, value FROM log ORDER BY revision').iterate();
    for (const { revision, key, value } of rows as Iterable<{ revision: number; key: string; value: string | null }>) {
      if (value !== null) this.#assertJson(revision, value);
      yield { revision, key, text: value ?? undefined };
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
    this.#append.run(revision, key, text ?? null);
  }

  /** Removes rows that no current value and no watch can need; `upTo` is the newest change that used one of them. */
  forget(revisions: readonly number[], upTo: number): void {
    for (const revision of revisions) this.#forget.run(revision);
    this.#setForgotten.run(upTo);
  }

  /** Copies everything that is committed into a database at `path`, while this one goes on. */
  async copyTo(path: string): Promise<void> {
    await backup(this.#database, path);
  }

  close(): void {
    this.#database.close();
  }

  #assertJson(revision: number, text: string): void {
    try {
      JSON.parse(text);
    } catch (error) {
      throw damaged(this.#path, `the value of revision ${revision} is not JSON: ${messageOf(error)}`, error);
    }
  }
}

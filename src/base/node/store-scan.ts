/** Looks at every record of a store, whatever state the file is in: how far all is well, what is damaged, what can still be read. */
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../errors.ts';
import { recordChecksum } from './store-format.ts';

export type StoredRecord = { readonly revision: number; readonly key: string; readonly text: string | undefined };
export type StoreScan = {
  /** How many records are as they were written. */
  readonly whole: number;
  /** Up to this revision every record is; undefined when not even the first is. */
  readonly wholeUpTo: number | undefined;
  /** Records that are not, with the keys that they now have. */
  readonly damaged: readonly { readonly revision: number; readonly key: string }[];
  /** Why some records could not be read at all. */
  readonly unreadable: string | undefined;
};

type Row = { readonly revision: number; readonly key: unknown; readonly value: unknown; readonly checksum?: unknown };

/** True when a row is what was written. Rows of format 1 carry no checksum and are taken as they are. */
export function isWhole({ revision, key, value, checksum }: Row): boolean {
  if (typeof key !== 'string' || (value !== null && typeof value !== 'string')) return false;
  return checksum === undefined || checksum === recordChecksum(revision, key, value ?? undefined);
}

/**
 * Hands every whole record to `onRecord`, oldest first as far as they can be read; behind a page that cannot be, the rest is read from the
 * other end. What `onRecord` throws (there is no room for what was read) says nothing about the store, and is thrown.
 */
export function scanStore(database: DatabaseSync, onRecord: (record: StoredRecord) => void = () => {}): StoreScan {
  let whole = 0;
  let last: number | undefined;
  let wholeUpTo: number | undefined;
  const damaged: { revision: number; key: string }[] = [];
  let refusal: { readonly error: unknown } | undefined;
  const hand = (record: StoredRecord) => {
    try {
      onRecord(record);
    } catch (error) {
      refusal = { error };
      throw error;
    }
  };
  const take = (row: Row) => {
    if (isWhole(row)) {
      whole += 1;
      hand({ revision: row.revision, key: String(row.key), text: typeof row.value === 'string' ? row.value : undefined });
    } else damaged.push({ revision: row.revision, key: String(row.key) });
  };
  const seen = () => last ?? Number.NEGATIVE_INFINITY;
  const failure = read(database, 'ASC', (row) => {
    if (row.revision <= seen()) throw new Error(`revision ${row.revision} comes after ${last}`);
    take(row);
    last = row.revision;
    if (damaged.length === 0) wholeUpTo = last;
  });
  if (failure !== undefined && !refusal) {
    read(database, 'DESC', (row) => {
      if (row.revision <= seen()) throw new Error('met the first part');
      take(row);
    });
  }
  if (refusal) throw refusal.error;
  return { whole, wholeUpTo, damaged, unreadable: failure };
}

/** Why reading ended before the end; undefined when it did not. */
function read(database: DatabaseSync, order: 'ASC' | 'DESC', onRow: (row: Row) => void): string | undefined {
  try {
    const rows = database.prepare(`SELECT * FROM log ORDER BY revision ${order}`).iterate();
    for (const row of rows as Iterable<unknown>) onRow(row as Row); // the table has these columns
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

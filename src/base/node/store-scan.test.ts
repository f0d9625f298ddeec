import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createStoreTables, recordChecksum } from './store-format.ts';
import { scanStore } from './store-scan.ts';

test('what fails in the hands of the reader is no damage of the store', () => {
  const database = new DatabaseSync(':memory:');
  createStoreTables(database, 'id');
  const insert = database.prepare('INSERT INTO log (revision, key, value, checksum) VALUES (?, ?, ?, ?)');
  for (const n of [1, 2, 3]) insert.run(n, `k${n}`, '{}', recordChecksum(n, `k${n}`, '{}'));
  const full = new Error('database or disk is full');
  const take = ({ revision }: { readonly revision: number }) => {
    if (revision === 2) throw full;
  };
  assert.throws(
    () => scanStore(database, take),
    (error) => error === full,
  );
  database.close();
});

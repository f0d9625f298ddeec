import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { UserError } from '../../base/errors.ts';
import { readWatermark, writeWatermarkSync } from '../../base/node/store-watermark.ts';
import { openStore } from './store.ts';

const COUNT = 40;
const keyOf = (n: number) => `core/configmaps/default/c${n}`;

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'store-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** A store as `kill -9` leaves it: everything in the log beside the file, the mark of the last second there. */
async function killed(t: TestContext): Promise<string> {
  const source = folder(t);
  const store = openStore({ path: join(source, 'store.db') });
  t.after(() => store.close());
  for (let n = 0; n < COUNT; n += 1) await store.write({ key: keyOf(n), value: { n, text: 'x'.repeat(300) } });
  await store.mark();
  return copyOf(t, source);
}

/** A store that was closed: everything in the file. */
async function stopped(t: TestContext): Promise<string> {
  const path = join(folder(t), 'store.db');
  const store = openStore({ path });
  for (let n = 0; n < COUNT; n += 1) await store.write({ key: keyOf(n), value: { n, text: 'x'.repeat(300) } });
  store.close();
  return path;
}

function copyOf(t: TestContext, source: string): string {
  const target = join(folder(t), 'copy');
  mkdirSync(target);
  for (const name of ['store.db', 'store.db-wal', 'store.json']) copyFileSync(join(source, name), join(target, name));
  return join(target, 'store.db');
}

const isDamage = (pattern: RegExp) => (error: unknown) =>
  error instanceof UserError && error.code === 'STORE_DAMAGED' && pattern.test(error.why ?? '') && /--salvage/.test(error.fix ?? '');

test('a log that was cut off is noticed by the revision beside the store', async (t) => {
  const path = await killed(t);
  truncateSync(`${path}-wal`, Math.floor((readFileSync(`${path}-wal`).length * 3) / 4));
  assert.throws(() => openStore({ path }), isDamage(/^it ends at revision \d+, and had come to 40; all is well up to revision \d+$/));
});

test('a bit that changed anywhere in the log is noticed or harmless: nothing is ever lost in silence', async (t) => {
  const path = await killed(t);
  const wal = readFileSync(`${path}-wal`);
  const base = readFileSync(path);
  let noticed = 0;
  for (let at = 100; at < wal.length; at += Math.floor(wal.length / 60)) {
    const changed = Buffer.from(wal);
    changed[at] = (changed[at] ?? 0) ^ 4;
    writeFileSync(path, base);
    writeFileSync(`${path}-wal`, changed);
    try {
      const store = openStore({ path });
      assert.equal(store.list('').length, COUNT, `bit at ${at}`);
      store.close();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      assert.equal(error.code, 'STORE_DAMAGED');
      noticed += 1;
    }
  }
  assert.ok(noticed > 40, `${noticed}`);
});

test('a bit that changed anywhere in the file is noticed or harmless', async (t) => {
  const path = await stopped(t);
  const whole = readFileSync(path);
  const mark = readFileSync(join(path, '../store.json'));
  const first = openStore({ path });
  const expected = JSON.stringify(first.list(''));
  first.close();
  const offsets = [60, 63, ...Array.from({ length: 150 }, (_, n) => Math.floor((n * whole.length) / 150) + (n % 11))]; // 60 to 63: its format
  let noticed = 0;
  for (const [n, at] of offsets.entries()) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ (1 << ((n + 1) % 8));
    writeFileSync(path, changed);
    writeFileSync(join(path, '../store.json'), mark);
    try {
      const store = openStore({ path });
      assert.equal(JSON.stringify(store.list('')), expected, `bit at ${at}`);
      store.close();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      assert.match(error.code, /^STORE_(DAMAGED|TOO_NEW)$/);
      noticed += 1;
    }
  }
  assert.ok(noticed > 75, `${noticed}`);
});

test('a changed record is named with the revision up to which all is well', async (t) => {
  const path = await stopped(t);
  const bytes = readFileSync(path);
  const at = bytes.indexOf('{"n":17,');
  bytes[at + 30] = 'y'.charCodeAt(0);
  writeFileSync(path, bytes);
  assert.throws(
    () => openStore({ path }),
    isDamage(/^record 18 \(core\/configmaps\/default\/c17\) does not match its checksum; all is well up to revision 17$/),
  );
});

test('an empty file where a store was is damage, no file is a new cluster with another id', async (t) => {
  const path = await stopped(t);
  const before = openStore({ path });
  before.close();
  truncateSync(path);
  assert.throws(() => openStore({ path }), isDamage(/^it is empty, and had come to revision 40$/));
  rmSync(path);
  const after = openStore({ path });
  t.after(() => after.close());
  assert.equal(after.revision, 0);
  assert.notEqual(after.clusterId, before.clusterId);
});

test('a folder in place of the store is named as such', (t) => {
  const path = join(folder(t), 'store.db');
  mkdirSync(path);
  assert.throws(
    () => openStore({ path }),
    (error) => error instanceof UserError && error.code === 'STORE_UNUSABLE' && error.fix !== undefined,
  );
});

test('a store of format 1 gets checksums and an id, and keeps everything', async (t) => {
  const path = join(folder(t), 'store.db');
  const old = new DatabaseSync(path);
  old.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE log (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT);
    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO log VALUES (7, '${keyOf(1)}', '{"n":1}'), (8, '${keyOf(2)}', NULL);
    INSERT INTO meta VALUES ('forgotten', 6);
    PRAGMA user_version = 1;`);
  old.close();
  const store = openStore({ path });
  assert.deepEqual(
    store.list('').map(({ key, revision, value }) => [key, revision, value]),
    [[keyOf(1), 7, { n: 1 }]],
  );
  assert.throws(() => store.watch('', 5, () => {}), /too old/);
  await store.write({ key: keyOf(3), value: {} });
  const { clusterId } = store;
  store.close();
  const again = openStore({ path });
  t.after(() => again.close());
  assert.deepEqual([again.clusterId, again.revision], [clusterId, 9]);
  const kept = join(dirname(path), 'backups/before-format-2.db');
  const copy = new DatabaseSync(kept, { readOnly: true });
  t.after(() => copy.close());
  assert.deepEqual(
    copy
      .prepare('SELECT revision, value FROM log')
      .all()
      .map((row) => [row['revision'], row['value']]),
    [
      [7, '{"n":1}'],
      [8, null],
    ],
    'and is kept as it was',
  );
  assert.deepEqual([copy.prepare('PRAGMA user_version').get()?.['user_version'], statSync(kept).mode & 0o777], [1, 0o600]);
});

test('a new store says which history it begins before its first write: the mark of another one beside it is no longer true', async (t) => {
  const path = join(folder(t), 'store.db');
  writeWatermarkSync(path, { clusterId: 'of-before', revision: 100 });
  const store = openStore({ path });
  await store.mark();
  assert.deepEqual(readWatermark(path), { clusterId: store.clusterId, revision: 0 });
  store.close();
});

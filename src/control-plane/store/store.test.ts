import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isApiError, UserError } from '../../base/errors.ts';
import { liveBytes } from '../../testing/live-bytes.ts';
import type { StoreEvent } from './entry.ts';
import { openStore } from './store.ts';
import { temporaryStore } from './temporary-store.testing.ts';

const A = 'core/configmaps/default/a';
const B = 'core/configmaps/default/b';

test('a write is visible after its commit and not before', async (t) => {
  const { store, close } = temporaryStore();
  t.after(close);
  const written = store.write({ key: A, expectedRevision: 0, value: { n: 1 } });
  assert.equal(store.get(A), undefined);
  const { revision } = await written;
  const { key, revision: stored, text, value } = store.get(A)!;
  assert.deepEqual({ key, stored, text, value }, { key: A, stored: revision, text: '{"n":1}', value: { n: 1 } });
});

test('of two writes with one expected revision the first wins and the other gets Conflict', async (t) => {
  const { store, close } = temporaryStore();
  t.after(close);
  const first = store.write({ key: A, expectedRevision: 0, value: { n: 1 } });
  const second = store.write({ key: A, expectedRevision: 0, value: { n: 2 } });
  await assert.rejects(second, (error) => isApiError(error, 'Conflict'));
  await first;
  assert.deepEqual(store.get(A)?.value, { n: 1 });
});

test('lists are in key order and end at their prefix', async (t) => {
  const { store, close } = temporaryStore();
  t.after(close);
  const keys = ['core/pods/b/x', 'core/pods/a/z', 'core/pods/a/y', 'core/podtemplates/a/q', 'apps/deployments/a/w'];
  await Promise.all(keys.map((key) => store.write({ key, value: {} })));
  assert.deepEqual(
    store.list('core/pods/').map(({ key }) => key),
    ['core/pods/a/y', 'core/pods/a/z', 'core/pods/b/x'],
  );
  assert.deepEqual(
    store.list('core/pods/a/').map(({ key }) => key),
    ['core/pods/a/y', 'core/pods/a/z'],
  );
  assert.equal(store.list('').length, 5);
});

test('a watch replays from its revision and goes on live, each change once', async (t) => {
  const { store, close } = temporaryStore();
  t.after(close);
  const { revision } = await store.write({ key: A, value: { n: 1 } });
  await store.write({ key: A, value: { n: 2 } });
  const seen: StoreEvent[] = [];
  const stop = store.watch('core/configmaps/', revision, (event) => seen.push(event));
  await store.write({ key: 'core/pods/default/p', value: {} });
  await store.write({ key: A, value: undefined });
  stop();
  await store.write({ key: B, value: {} });
  assert.deepEqual(
    seen.map(({ entry, previous }) => [previous?.value['n'], entry?.value['n']]),
    [
      [1, 2],
      [2, undefined],
    ],
  );
});

test('a revision that is no longer in the history is Expired', async (t) => {
  const { store, close } = temporaryStore({ historySize: 3 });
  t.after(close);
  for (let n = 0; n < 10; n += 1) await store.write({ key: A, value: { n } });
  assert.throws(
    () => store.watch('', 2, () => {}),
    (error) => isApiError(error, 'Expired'),
  );
  assert.doesNotThrow(() => store.watch('', 7, () => {}));
});

test('a large object that changes for ever fills neither the memory nor the disk', async (t) => {
  const { store, path, close } = temporaryStore();
  t.after(close);
  const MEBIBYTE = 1024 * 1024;
  const before = liveBytes();
  for (let n = 0; n < 120; n += 1) await store.write({ key: A, value: { n, text: String.fromCharCode(97 + (n % 26)).repeat(MEBIBYTE) } });
  const keptMebibytes = (liveBytes() - before) / MEBIBYTE;
  assert.ok(keptMebibytes < 64, `${keptMebibytes} MiB in memory`);
  const fileMebibytes = statSync(path).size / MEBIBYTE;
  assert.ok(fileMebibytes < 64, `${fileMebibytes} MiB on disk`);
  assert.throws(
    () => store.watch('', 60, () => {}),
    (error) => isApiError(error, 'Expired'),
  );
  const seen: unknown[] = [];
  store.watch('', 110, ({ entry }) => seen.push(entry?.value['n']));
  assert.deepEqual(seen, [110, 111, 112, 113, 114, 115, 116, 117, 118, 119]);
});

test('what is stored is what was there when the write was asked for', async (t) => {
  const { store, close } = temporaryStore();
  t.after(close);
  const value = { n: 1 };
  const written = store.write({ key: A, value });
  value.n = 2;
  const { entry } = await written;
  assert.deepEqual(entry?.value, { n: 1 });
});

test('an earlier state can be listed while the history reaches back to it', async (t) => {
  const { store, close } = temporaryStore();
  t.after(close);
  await store.write({ key: A, value: { n: 1 } });
  const { revision } = await store.write({ key: B, value: { n: 1 } });
  await store.write({ key: A, value: undefined });
  await store.write({ key: B, value: { n: 2 } });
  await store.write({ key: 'core/configmaps/default/c', value: {} });
  assert.deepEqual(
    store.listAt('core/configmaps/', revision).map(({ key, value }) => [key, value['n']]),
    [
      [A, 1],
      [B, 1],
    ],
  );
});

test('a reopened store has the same state, revision and history, with forgotten rows gone', async (t) => {
  const { store, path, close } = temporaryStore({ historySize: 5 });
  t.after(close);
  await store.write({ key: B, value: { keep: true } });
  for (let n = 0; n < 50; n += 1) await store.write({ key: A, value: { n } });
  await store.write({ key: A, value: undefined });
  const { revision } = store;
  store.close();
  const again = openStore({ path, historySize: 5 });
  t.after(() => again.close());
  assert.equal(again.revision, revision);
  assert.equal(again.get(A), undefined);
  assert.deepEqual(again.get(B)?.value, { keep: true });
  const seen: StoreEvent[] = [];
  again.watch('', revision - 3, (event) => seen.push(event));
  assert.deepEqual(
    seen.map((event) => [event.previous?.value['n'], event.entry?.value['n']]),
    [
      [47, 48],
      [48, 49],
      [49, undefined],
    ],
  );
  assert.throws(() => again.watch('', 10, () => {}), /too old resource version/);
});

test('the revision survives when everything was deleted and forgotten', async (t) => {
  const { store, path, close } = temporaryStore({ historySize: 1 });
  t.after(close);
  for (let n = 0; n < 20; n += 1) await store.write({ key: A, value: n % 2 === 0 ? { n } : undefined });
  const { revision } = store;
  store.close();
  const again = openStore({ path });
  t.after(() => again.close());
  assert.equal(again.revision, revision);
});

test('the file is readable by its owner only', (t) => {
  const { path, close } = temporaryStore();
  t.after(close);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a second opener is told that the store is locked and what to do', (t) => {
  const { path, close } = temporaryStore();
  t.after(close);
  assert.throws(
    () => openStore({ path }),
    (error) => error instanceof UserError && error.code === 'STORE_LOCKED' && /virtctl down/.test(error.fix ?? ''),
  );
});

test('a damaged file is named as such with the way out', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'store.db');
  writeFileSync(path, 'this is not a database, it only pretends to be one '.repeat(200));
  assert.throws(
    () => openStore({ path }),
    (error) => error instanceof UserError && error.code === 'STORE_DAMAGED' && /move/.test(error.fix ?? ''),
  );
});

test('a file that lost its tail is named as damaged', async (t) => {
  const { store, path, close } = temporaryStore();
  t.after(close);
  for (let n = 0; n < 50; n += 1) await store.write({ key: `core/configmaps/default/${n}`, value: { text: 'x'.repeat(4000) } });
  store.close();
  truncateSync(path, statSync(path).size - 5 * 4096);
  assert.throws(
    () => openStore({ path }),
    (error) => error instanceof UserError && error.code === 'STORE_DAMAGED',
  );
});

test('a full store refuses the write whole, keeps serving and takes writes again later', async (t) => {
  const { store, path, close } = temporaryStore({ maxBytes: 200_000 });
  t.after(close);
  await store.write({ key: A, value: { small: true } });
  const big = Array.from({ length: 100 }, (_, n) => store.write({ key: `core/configmaps/big/${n}`, value: { text: 'x'.repeat(5000) } }));
  const results = await Promise.allSettled(big);
  assert.ok(
    results.every((result) => result.status === 'rejected' && isApiError(result.reason, 'InternalError') && result.reason.code === 507),
  );
  assert.deepEqual(store.get(A)?.value, { small: true });
  assert.equal(store.list('core/configmaps/big/').length, 0);
  const { revision } = await store.write({ key: B, value: { small: true } });
  assert.equal(revision, 2);
  store.close();
  const again = openStore({ path });
  t.after(() => again.close());
  assert.equal(again.revision, 2);
});

/** `npm run test:soak` asks for all of them. */
const KILLS = Number(process.env['STORE_KILLS'] ?? 10);

test('kill -9 during writes loses no acknowledged write and never lowers the revision', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'store.db');
  const program = fileURLToPath(new URL('crash-writer.testing.ts', import.meta.url));
  let highest = 0;
  for (let round = 0; round < KILLS; round += 1) {
    const newest = new Map<string, number>();
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, path, String(round)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let acknowledged = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const [word, revision, key, i] = line.split(' ');
      if (word === 'open') assert.ok(Number(revision) >= highest, `opened at ${revision}, ${highest} was acknowledged`);
      if (word !== 'ack' || i === undefined) continue;
      highest = Math.max(highest, Number(revision));
      newest.set(key!, Number(i));
      acknowledged += 1;
      if (acknowledged === 100 + 37 * (round % 20)) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const store = openStore({ path });
    assert.ok(store.revision >= highest);
    for (const [key, i] of newest) assert.ok(Number(store.get(key)?.value['i']) >= i, `${key} was acknowledged with ${i}`);
    store.close();
  }
  t.diagnostic(`${KILLS} kills, ${highest} revisions acknowledged`);
});

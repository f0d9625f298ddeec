import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { isApiError } from '../../base/errors.ts';
import { LogTable } from './log-table.ts';
import { openDatabase } from './open-database.ts';
import { openStore, Store } from './store.ts';

const A = 'core/configmaps/default/a';
const B = 'core/configmaps/default/b';
const C = 'core/configmaps/default/c';

/** A log on a disk that takes its time: it is asked to, or told that it failed. */
class SlowLog extends LogTable {
  readonly waiting: { go(): void; fail(error: Error): void }[] = [];

  override sync(done: (error: unknown) => void): void {
    this.waiting.push({ go: () => super.sync(done), fail: done });
  }
}

function slowStore(t: TestContext, onFatal?: (error: unknown) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'store.db');
  const log = new SlowLog(openDatabase(path), path);
  const store = new Store(log, { path, ...(onFatal && { onFatal }) });
  t.after(() => store.close());
  return { path, log, store };
}

test('while the disk takes a commit nothing of it is seen, the loop goes on, and what comes meanwhile shares the next', async (t) => {
  const { log, store } = slowStore(t);
  const first = store.write({ key: A, expectedRevision: 0, value: { n: 1 } });
  await turn();
  const others = [store.write({ key: B, value: {} }), store.write({ key: C, value: {} })];
  const loser = assert.rejects(store.write({ key: A, expectedRevision: 0, value: { n: 2 } }), (error) => isApiError(error, 'Conflict'));
  await turn();
  assert.deepEqual([log.waiting.length, store.revision, store.get(A)], [1, 0, undefined]);
  log.waiting[0]?.go();
  await first;
  assert.deepEqual([store.revision, store.get(A)?.value], [1, { n: 1 }]);
  await turn();
  assert.equal(log.waiting.length, 2);
  log.waiting[1]?.go();
  await Promise.all([...others, loser]);
  assert.deepEqual([store.revision, store.get(A)?.value], [3, { n: 1 }]);
});

test('closing takes what is on its way to the disk along, and what waits behind it', async (t) => {
  const { path, log, store } = slowStore(t);
  const first = store.write({ key: A, value: { n: 1 } });
  await turn();
  const second = store.write({ key: B, value: { n: 2 } });
  store.close();
  assert.deepEqual([(await first).revision, (await second).revision, log.waiting.length], [1, 2, 1]);
  const again = openStore({ path });
  t.after(() => again.close());
  assert.deepEqual([again.get(A)?.value, again.get(B)?.value], [{ n: 1 }, { n: 2 }]);
});

test('when the disk fails under a commit, nobody is told that it was written, and nothing is written any more', async (t) => {
  const fatal: unknown[] = [];
  const { log, store } = slowStore(t, (error) => fatal.push(error));
  const writes = [store.write({ key: A, value: {} })];
  await turn();
  writes.push(store.write({ key: B, value: {} }));
  const failure = new Error('EIO: i/o error, fdatasync');
  log.waiting[0]?.fail(failure);
  writes.push(store.write({ key: C, value: {} }));
  const outcomes = await Promise.allSettled(writes);
  assert.ok(outcomes.every((each) => each.status === 'rejected' && isApiError(each.reason, 'ServiceUnavailable')));
  assert.deepEqual([fatal, store.get(A), store.whyNotWritable], [[failure], undefined, failure.message]);
});

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import { readWatermark } from '../../base/node/store-watermark.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { until } from '../../testing/until.ts';
import { keepStore } from './keep-store.ts';
import { openStore } from './store.ts';
import { temporaryStore } from './temporary-store.testing.ts';

function kept(t: TestContext) {
  const { store, path, close } = temporaryStore();
  const clock = new FakeClock();
  const stop = new AbortController();
  const backupsDir = join(dirname(path), 'backups');
  const ended = keepStore({ store, backupsDir, clock, log: silentLogger, signal: stop.signal });
  t.after(async () => {
    stop.abort();
    await ended;
    close();
  });
  return { store, path, clock, backupsDir };
}

const copiesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('store-')) : []);

test('the revision is beside the store a second after the write', async (t) => {
  const { store, path, clock } = kept(t);
  const { revision } = await store.write({ key: 'core/configmaps/default/a', value: {} });
  await until(async () => {
    clock.advance(1_000); // again while the first mark is still on its way
    return readWatermark(path)?.revision === revision;
  }, 'the mark');
  assert.deepEqual(readWatermark(path), { clusterId: store.clusterId, revision });
});

test('the log is emptied into the file every few minutes', async (t) => {
  const { store, path, clock } = kept(t);
  await store.write({ key: 'core/configmaps/default/a', value: { text: 'x'.repeat(10_000) } });
  await until(async () => {
    clock.advance(180_000);
    return statSync(`${path}-wal`).size === 0;
  }, 'an empty log');
});

test('a copy is made every hour, whole and for its owner only; four are kept, and what a killed one left goes', async (t) => {
  const { store, clock, backupsDir } = kept(t);
  await store.write({ key: 'core/configmaps/default/a', value: { n: 1 } });
  mkdirSync(backupsDir);
  writeFileSync(join(backupsDir, 'unfinished'), 'of a killed one');
  const seen = new Set<string>();
  for (let n = 0; n < 6; n += 1) {
    clock.advance(3_600_000);
    await until(async () => {
      clock.advance(1_000);
      return copiesIn(backupsDir).some((name) => !seen.has(name)) && !existsSync(join(backupsDir, 'unfinished'));
    }, 'a copy');
    for (const name of copiesIn(backupsDir)) seen.add(name);
    await until(async () => copiesIn(backupsDir).length <= 4, 'room');
  }
  assert.equal(copiesIn(backupsDir).length, 4);
  const newest = join(backupsDir, copiesIn(backupsDir).sort().at(-1) ?? '');
  assert.equal(statSync(newest).mode & 0o077, 0);
  const copy = openStore({ path: newest });
  t.after(() => copy.close());
  assert.deepEqual(copy.get('core/configmaps/default/a')?.value, { n: 1 });
});

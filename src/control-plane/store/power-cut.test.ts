import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from './store.ts';

/** SQLite's own format: a header, then frames of a page each. */
const WAL_HEADER = 32;
const FRAME = 24 + 4096;
const COMMITS = 120;
/** Every frame when there is time; a sample of them otherwise. */
const STEP = process.env['POWER_CUT'] === 'every-frame' ? 1 : 9;

type Moment = { readonly walBytes: number; readonly revision: number; readonly state: string };

test('cut at any frame of its log, the database opens to a state that was whole, and to no older one than was on disk', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'store.db');
  const store = openStore({ path, historySize: 40 });
  t.after(() => store.close());
  const moments: Moment[] = [{ walBytes: 0, revision: 0, state: '[]' }];
  const stateOf = ({ list }: { list: (prefix: string) => readonly unknown[] }) => JSON.stringify(list(''));
  for (let i = 0; i < COMMITS; i += 1) {
    await Promise.all([
      store.write({ key: `core/configmaps/default/${i % 17}`, value: { i, padding: 'x'.repeat((i * 97) % 6000) } }),
      store.write({ key: `core/secrets/default/${i % 5}`, value: i % 3 === 0 ? undefined : { i } }),
    ]);
    moments.push({
      walBytes: statSync(`${path}-wal`).size,
      revision: store.revision,
      state: stateOf({ list: (prefix) => store.list(prefix) }),
    });
  }
  const wal = readFileSync(`${path}-wal`);
  const frames = Math.floor((wal.length - WAL_HEADER) / FRAME);
  assert.ok(frames > COMMITS, `${frames} frames`);

  t.diagnostic(`cut at every ${STEP === 1 ? '' : `${STEP}th `}frame of ${frames}`);
  for (let frame = 0; frame <= frames; frame += STEP) {
    const cut = WAL_HEADER + frame * FRAME;
    const copy = join(folder, `cut-${frame}`);
    mkdirSync(copy);
    copyFileSync(path, join(copy, 'store.db'));
    // The rest of a frame that was being written when the power went.
    writeFileSync(join(copy, 'store.db-wal'), wal.subarray(0, Math.min(wal.length, cut + (frame % 2 === 0 ? 0 : 1000))));
    const opened = openStore({ path: join(copy, 'store.db'), historySize: 40 });
    const state = stateOf({ list: (prefix) => opened.list(prefix) });
    const durable = moments.findLast(({ walBytes }) => walBytes <= cut) ?? moments[0];
    assert.equal(opened.revision, durable?.revision, `cut at frame ${frame}`);
    assert.equal(state, durable?.state, `cut at frame ${frame}`);
    await opened.write({ key: 'core/configmaps/default/after', value: {} });
    opened.close();
    rmSync(copy, { recursive: true });
  }
});

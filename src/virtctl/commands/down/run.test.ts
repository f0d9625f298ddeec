import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

test('where nothing runs there is nothing to stop', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'down-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { deps, stdout, requests } = testDeps({}, { home });
  await run(deps, { purge: false });
  assert.deepEqual([stdout(), requests], ['nothing to stop: no embedded cluster runs here\n', []]);
});

test('--purge removes the data folder', async () => {
  const home = mkdtempSync(join(tmpdir(), 'down-'));
  writeFileSync(join(home, 'store.db'), '');
  const { deps, stdout } = testDeps({}, { home });
  await run(deps, { purge: true });
  assert.equal(existsSync(home), false);
  assert.match(stdout(), new RegExp(`✓ data +${home} removed`));
});

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { noteRelease } from '../../base/node/data-release.ts';
import { runEmbedded } from './run-embedded.ts';

test('a cluster does not start on data that a newer release has used, and touches nothing of it', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'newer-'));
  t.after(() => rmSync(home, { recursive: true }));
  noteRelease(home, 'v999.0.0');
  const { signal } = new AbortController();
  const started = runEmbedded({ home, port: 0, network: 'host', nodes: 1, adopt: false, log: silentLogger, clock: systemClock, signal });
  await assert.rejects(started, { code: 'DATA_TOO_NEW', message: /belongs to release v999\.0\.0/ });
  assert.equal(existsSync(join(home, 'store.db')), false);
});

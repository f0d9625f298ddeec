import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify } from '../../../base/node/process-identity.ts';
import { testDeps } from '../../deps.testing.ts';
import { statePath } from '../../embedded/paths.ts';
import { run } from './run.ts';

test('a running cluster is not given other objects', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'restore-'));
  t.after(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, 'run'));
  writeFileSync(statePath(home), JSON.stringify({ process: identify(process.pid), port: 1, startedAt: '', version: '' }));
  const { deps } = testDeps({}, { home });
  await assert.rejects(run(deps, { salvage: false, adopt: false }, 'file'), {
    code: 'RUNNING',
    fix: 'virtctl down, then restore',
    exitCode: 4,
  });
});

test('which backup has to be said', async () => {
  await assert.rejects(run(testDeps().deps, { salvage: false, adopt: false }), { code: 'USAGE', exitCode: 2 });
});

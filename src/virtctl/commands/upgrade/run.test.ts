import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { noteRelease } from '../../../base/node/data-release.ts';
import { identify } from '../../../base/node/process-identity.ts';
import { testDeps } from '../../deps.testing.ts';
import { statePath } from '../../embedded/paths.ts';
import { storePath } from '../../embedded/store-file.ts';
import { run } from './run.ts';

/** A data folder with a store; this very process stands for the cluster that runs on it, which must not be ended. */
function folder(t: TestContext, running?: string) {
  const home = mkdtempSync(join(tmpdir(), 'upgrade-'));
  t.after(() => rmSync(home, { recursive: true }));
  writeFileSync(storePath(home), '');
  mkdirSync(dirname(statePath(home)), { recursive: true });
  if (running !== undefined)
    writeFileSync(statePath(home), JSON.stringify({ process: identify(process.pid), port: 7443, version: running }));
  return { home, ...testDeps({}, { home, version: 'v0.2.0' }) };
}

test('without a cluster there is nothing to upgrade', async () => {
  await assert.rejects(run(testDeps().deps), { code: 'NO_CLUSTER', exitCode: 3 });
});

test('a cluster of a newer release is refused before anything is asked, copied or stopped', async (t) => {
  const { deps, home, requests, stdout } = folder(t, 'v0.3.0');
  await assert.rejects(run(deps), { code: 'DATA_TOO_NEW', message: /belongs to release v0\.3\.0/, fix: /use v0\.3\.0 or newer/ });
  assert.deepEqual([requests, stdout(), existsSync(join(home, 'backups'))], [[], '', false]);
});

test('so is the folder of one that does not run', async (t) => {
  const { deps, home } = folder(t);
  noteRelease(home, 'v1.0.0');
  await assert.rejects(run(deps), { code: 'DATA_TOO_NEW' });
});

test('without a whole backup nothing is stopped', async (t) => {
  const nodes = { 'GET /api/v1/nodes': { metadata: {}, items: [{ metadata: { name: 'n1' } }] } };
  const { home } = folder(t, 'v0.1.0');
  const { deps, requests } = testDeps({ ...nodes, 'GET /snapshot': new Response('no database') }, { home, version: 'v0.2.0' });
  await assert.rejects(run(deps), { code: 'BACKUP_DAMAGED' }); // and this process lives on
  assert.equal(requests.at(-1)?.[0], 'GET /snapshot');
});

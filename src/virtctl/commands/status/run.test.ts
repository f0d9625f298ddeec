import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify } from '../../../base/node/process-identity.ts';
import { vm } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { statePath } from '../../embedded/paths.ts';
import { run } from './run.ts';

test('a cluster that does not run is said, with what starts it', async () => {
  await assert.rejects(run(testDeps().deps), { code: 'NOT_RUNNING', fix: 'virtctl up', exitCode: 3 });
});

test('a cluster that was started again too often is said, with what serves it without what ends it', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'status-'));
  t.after(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, 'run'));
  writeFileSync(join(home, 'run/restarts'), `5 ${new Date(0).toISOString()} exit code 7\n`);
  const fix = 'virtctl up, or virtctl up --without-controllers to delete the object that ends it';
  await assert.rejects(run(testDeps({}, { home }).deps), { code: 'NOT_RUNNING', fix, exitCode: 3 });
});

test('a cluster that runs: where it is, and a line for each machine', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'status-'));
  t.after(() => rmSync(home, { recursive: true }));
  const machines = { metadata: {}, items: [vm('Always', { printableStatus: 'Running' }), vm('Halted', {}, { name: 'cache' })] };
  const { deps, stdout } = testDeps({ 'GET /apis/kubevirt.io/v1/virtualmachines': machines }, { home });
  mkdirSync(join(home, 'run'));
  const state = {
    process: identify(process.pid),
    port: 6443,
    startedAt: new Date(deps.clock.now() - 90_000).toISOString(),
    version: 'v0',
  };
  writeFileSync(statePath(home), JSON.stringify(state));
  writeFileSync(join(home, 'run/restarts'), `2 ${new Date(deps.clock.now() - 100_000).toISOString()} exit code 7\n`);
  await run(deps);
  const [cluster, restarts, data, kubeconfig, ...rest] = stdout().split('\n');
  assert.equal(restarts, 'restarts    2, the last 100s ago: exit code 7');
  assert.match(cluster ?? '', new RegExp(`^cluster +running for 90s, process ${process.pid}, https://127\\.0\\.0\\.1:6443$`));
  assert.deepEqual([data, kubeconfig], [`data        ${home}`, `kubeconfig  ${home}/kubeconfig`]);
  assert.deepEqual(
    rest.map((line) => line.trim().split(/ +/)),
    [['machines'], ['default/db', 'Running'], ['default/cache', 'Stopped'], ['']],
  );
});

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { identifyChild } from '../../../base/node/process-identity.ts';
import { testDeps } from '../../deps.testing.ts';
import { mergeKubeconfig } from '../../embedded/merge-kubeconfig.ts';
import { statePath } from '../../embedded/paths.ts';
import { run } from './run.ts';

test('where nothing runs there is nothing to stop', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'down-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { deps, stdout, requests } = testDeps({}, { home });
  await run(deps, { purge: false, yes: false, cache: false });
  assert.deepEqual([stdout(), requests], ['nothing to stop: no embedded cluster runs here\n', []]);
});

const noMount = process.getuid?.() === 0 ? false : 'only root can mount a disk';

test('--purge empties a data folder that is a disk of its own, which stays', { skip: noMount }, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'down-'));
  const { deps, stdout } = testDeps({}, { home });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', deps.home]);
  t.after(() => {
    execFileSync('umount', ['-l', deps.home]);
    rmSync(deps.home, { recursive: true });
  });
  mkdirSync(join(deps.home, 'kubelet', 'pods'), { recursive: true });
  writeFileSync(join(deps.home, 'kubelet', 'pods', 'x'), '');
  await run(deps, { purge: true, yes: false, cache: false });
  assert.deepEqual(readdirSync(deps.home), []);
  assert.match(stdout(), /emptied; a disk is mounted there, which stays/);
});

test('--purge removes the data folder', async () => {
  const home = mkdtempSync(join(tmpdir(), 'down-'));
  writeFileSync(join(home, 'store.db'), '');
  const { deps, stdout } = testDeps({}, { home });
  await run(deps, { purge: true, yes: false, cache: false });
  assert.equal(existsSync(home), false);
  assert.match(stdout(), new RegExp(`✓ data +${home} removed`));
});

test('--purge takes the context of the cluster out of the kubeconfig of the user', async (t) => {
  const [home, own] = [mkdtempSync(join(tmpdir(), 'down-')), mkdtempSync(join(tmpdir(), 'down-'))];
  t.after(() => rmSync(own, { recursive: true }));
  mkdirSync(join(own, '.kube'));
  const path = join(own, '.kube/config');
  const ours = { 'current-context': '', clusters: [{ name: 'c', cluster: {} }], users: [{ name: 'u', user: {} }], contexts: [] };
  writeFileSync(path, mergeKubeconfig('', ours, home).text);
  const { deps, stdout } = testDeps({}, { home, env: { HOME: own } });
  await run(deps, { purge: true, yes: false, cache: false });
  assert.equal(existsSync(path), false);
  assert.match(stdout(), new RegExp(`✓ kubectl +context kubevirt-ts taken out of ${path}`));
});

/** A data folder with one VM, one disk, and one VM that was deleted. */
function dataFolder(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'down-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const database = new DatabaseSync(join(home, 'store.db'));
  database.exec('CREATE TABLE log (revision INTEGER PRIMARY KEY, key TEXT, value TEXT)');
  const put = database.prepare('INSERT INTO log (key, value) VALUES (?, ?)');
  const object = (name: string, more = {}) => JSON.stringify({ metadata: { namespace: 'default', name }, ...more });
  put.run('kubevirt.io/virtualmachines/default/db', object('db'));
  put.run('kubevirt.io/virtualmachines/default/old', object('old'));
  put.run('kubevirt.io/virtualmachines/default/old', null);
  put.run('core/persistentvolumeclaims/default/data', object('data', { spec: { resources: { requests: { storage: '10Gi' } } } }));
  database.close();
  return home;
}

function atTerminal(home: string, answer: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.end(answer);
  const stdout = Object.assign(new PassThrough(), { isTTY: true });
  stdout.resume();
  return testDeps({}, { home, stdin, stdout });
}

for (const answer of ['no\n', '\n', 'y\n', '']) {
  test(`on a terminal --purge keeps everything when the answer is ${JSON.stringify(answer)}`, async (t) => {
    const home = dataFolder(t);
    const { deps, stderr } = atTerminal(home, answer);
    await assert.rejects(run(deps, { purge: true, yes: false, cache: false }), /nothing was removed/);
    assert.equal(existsSync(join(home, 'store.db')), true);
    assert.match(stderr(), /1 VM: default\/db\n {2}1 disk \(PVC\): default\/data \(10Gi\)\n/);
  });
}

test('on a terminal --purge removes what it named when the answer is yes', async (t) => {
  const home = dataFolder(t);
  await run(atTerminal(home, 'yes\n').deps, { purge: true, yes: false, cache: false });
  assert.equal(existsSync(home), false);
});

test('--purge --yes does not ask', async (t) => {
  const home = dataFolder(t);
  const { deps, stderr } = atTerminal(home, '');
  await run(deps, { purge: true, yes: true, cache: false });
  assert.deepEqual([existsSync(home), stderr()], [false, '']);
});

test('a store that cannot be read is purged after a question, too', async (t) => {
  const home = dataFolder(t);
  writeFileSync(join(home, 'store.db'), 'no database');
  const { deps, stderr } = atTerminal(home, 'yes\n');
  await run(deps, { purge: true, yes: false, cache: false });
  assert.match(stderr(), /cannot be read from its store/);
});

test('--purge removes a cluster that would not start', async () => {
  const home = mkdtempSync(join(tmpdir(), 'down-'));
  mkdirSync(dirname(statePath(home)));
  writeFileSync(statePath(home), JSON.stringify({ process: { pid: 2 ** 22 + 1, startTime: '1' }, port: 6443, startedAt: '', version: '' }));
  const { deps, stdout } = testDeps({}, { home, embeddedProgram: '/nonexistent' });
  await run(deps, { purge: true, yes: true, cache: false });
  assert.deepEqual([existsSync(home), /✓ guests +none was running/.test(stdout())], [false, true]);
});

test('a cluster without controllers is not asked to end guests: nobody there could', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'down-'));
  const cluster = spawn('sleep', ['60'], { stdio: 'ignore' });
  t.after(() => [cluster.kill(), rmSync(home, { recursive: true, force: true })]);
  mkdirSync(dirname(statePath(home)));
  const state = { process: identifyChild(cluster.pid ?? 0), port: 6443, startedAt: '', version: '', isWithoutControllers: true };
  writeFileSync(statePath(home), JSON.stringify(state));
  const { deps, stdout, requests } = testDeps({}, { home, clock: systemClock });
  const ended = once(cluster, 'exit');
  await run(deps, { purge: false, yes: false, cache: false });
  assert.deepEqual([requests, (await ended)[1], /✓ guests +none was running/.test(stdout())], [[], 'SIGTERM', true]);
});

test('--purge says that the cache stays, and --cache removes it', async (t) => {
  const [home, cache] = [dataFolder(t), mkdtempSync(join(tmpdir(), 'cache-'))];
  const kept = testDeps({}, { home, cache });
  await run(kept.deps, { purge: true, yes: true, cache: false });
  assert.match(kept.stdout(), new RegExp(`✓ cache +${cache} stays`));
  const gone = testDeps({}, { home, cache });
  await run(gone.deps, { purge: true, yes: true, cache: true });
  assert.deepEqual([existsSync(cache), /✓ cache +\S+ removed/.test(gone.stdout())], [false, true]);
  await assert.rejects(run(gone.deps, { purge: false, yes: true, cache: true }), { code: 'USAGE', exitCode: 2 });
});

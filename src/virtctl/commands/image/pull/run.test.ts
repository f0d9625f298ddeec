import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../../base/clock.ts';
import { TestRegistry, type TestRegistryOptions } from '../../../../images/registry.testing.ts';
import { openImageStore } from '../../../../images/store.ts';
import { until } from '../../../../testing/until.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run as importAs } from '../import/run.ts';
import { run as push } from '../push/run.ts';
import { run } from './run.ts';
import { transferText } from './transfer-rate.ts';

const VIRTCTL = resolve(import.meta.dirname, '../../../../cmd/virtctl.ts');

async function world(t: TestContext, options: TestRegistryOptions = {}) {
  const registry = await TestRegistry.start(options);
  const folder = mkdtempSync(join(tmpdir(), 'pull-'));
  t.after(async () => {
    await registry[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'disk.raw'), randomBytes(2 ** 20));
  const home = join(folder, 'home');
  const io = testDeps({}, { home, env: { DOCKER_CONFIG: folder } });
  await push(io.deps, { plainHttp: true }, join(folder, 'disk.raw'), `${registry.host}/team/disk:1`);
  // Real time: blobs whose digests begin alike wait for each other.
  return { registry, home, folder, ...testDeps({}, { home, env: { DOCKER_CONFIG: folder }, clock: systemClock }) };
}

test('an image comes from a registry into the store, and no cluster is needed', async (t) => {
  const { registry, home, deps, stdout, stderr } = await world(t);
  const name = `${registry.host}/team/disk:1`;
  await run(deps, {}, name);
  assert.match(stdout(), new RegExp(`^${name} pulled, [0-9a-f]{12}\n$`));
  assert.deepEqual([stderr(), openImageStore(join(home, 'images')).resolve(name)?.isPulled], ['', true]);
});

test('image import takes it under another name, by what virtctl run calls it', async (t) => {
  const { registry, home, deps, stdout } = await world(t);
  await importAs(deps, {}, `oci://${registry.host}/team/disk:1`, 'localhost/mine:2');
  const digest = openImageStore(join(home, 'images')).resolve('localhost/mine:2')?.digest ?? '';
  assert.equal(stdout(), `localhost/mine:2 imported, ${digest.slice(7, 19)}\n`);
  await assert.rejects(importAs(deps, {}, `docker://${registry.host}/team/nothing:1`, 'localhost/x'), { code: 'IMAGE_MISSING' });
  await assert.rejects(importAs(deps, {}, 'oci://NO NAME', 'localhost/x'), { code: 'REFERENCE_INVALID', exitCode: 2 });
  const digestOf = { digest: `sha256:${'0'.repeat(64)}` };
  await assert.rejects(importAs(deps, digestOf, 'oci://a/b', 'localhost/x'), {
    code: 'USAGE',
    why: /part of the name: oci:\/\/a\/b@sha256:HEX/,
  });
});

test('a mirror of the data folder is asked first', async (t) => {
  const { registry, home, deps, stdout } = await world(t);
  openImageStore(join(home, 'images'));
  writeFileSync(join(home, 'registries.json'), JSON.stringify({ registries: { 'quay.io': { mirrors: [`http://${registry.host}`] } } }));
  await run(deps, {}, 'quay.io/team/disk:1');
  assert.match(stdout(), /^quay\.io\/team\/disk:1 pulled, /);
});

test('what is not there, or no name, is said in words', async (t) => {
  const { registry, deps } = await world(t);
  await assert.rejects(run(deps, {}, `${registry.host}/team/nothing:1`), { code: 'IMAGE_MISSING', exitCode: 3 });
  await assert.rejects(run(deps, {}, 'https://quay.io/x'), { code: 'REFERENCE_INVALID', why: /without https/ });
  await assert.rejects(run(deps, {}, 'localhost/x'), { code: 'IMAGE_NOT_PULLED' });
});

test('kill -9 in the middle leaves no image and no blob, and the next pull goes on where it was', async (t) => {
  const options: TestRegistryOptions = { stallsAfterBytes: 700_000 };
  const { registry, home, folder, deps } = await world(t, options);
  const name = `${registry.host}/team/disk:1`;
  const env = { ...process.env, VIRT_HOME: home, DOCKER_CONFIG: folder };
  const child = spawn(process.execPath, [VIRTCTL, 'image', 'pull', name], { env, stdio: 'ignore' });
  const blobs = join(home, 'images', 'blobs');
  const partials = () => readdirSync(blobs).filter((each) => each.startsWith('.partial-'));
  const isThere = () => partials().some((each) => statSync(join(blobs, each)).size === 700_000);
  await until(() => statSync(blobs, { throwIfNoEntry: false }) !== undefined && isThere(), 'a part of the download');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(openImageStore(join(home, 'images')).resolve(name), undefined);
  options.stallsAfterBytes = undefined;
  registry.ranges.length = 0;
  await run(deps, {}, name);
  assert.deepEqual([registry.ranges, partials()], [['bytes=700000-'], []]);
});

test('progress has rate and time left, and what was here before is not counted for them', () => {
  const start = { atMs: 1000, doneBytes: 100 * 2 ** 20 };
  assert.deepEqual(
    [
      transferText({ doneBytes: 100 * 2 ** 20, allBytes: 400 * 2 ** 20 }, start, 1000),
      transferText({ doneBytes: 120 * 2 ** 20, allBytes: 400 * 2 ** 20 }, start, 3000),
      transferText({ doneBytes: 101 * 2 ** 20, allBytes: 40_000 * 2 ** 20 }, start, 3000),
    ],
    ['100 of 400 MiB', '120 of 400 MiB, 10.0 MiB/s, 28 s left', '101 of 40000 MiB, 0.5 MiB/s, 23 h left'],
  );
});

import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { until } from '../../testing/until.ts';
import { FolderCopies } from './folder-copies.ts';

async function places(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'copies-'));
  const copies = new FolderCopies(systemClock);
  t.after(async () => {
    await copies.stop();
    await rm(dir, { recursive: true });
  });
  const [from, path] = [join(dir, 'volume'), join(dir, 'copy')];
  mkdirSync(from);
  writeFileSync(join(from, 'disk.img'), 'data');
  const become = (is: string) => until(async () => (await copies.stateOf(path)).is === is, `the copy to be ${is}`);
  const begin = (at = path) => copies.begin({ from, path: at, owner: 'default' });
  return { copies, from, path, become, begin };
}

test('a copy is made once, is whole when it is there, and goes', async (t) => {
  const { copies, from, path, become, begin } = await places(t);
  begin();
  assert.deepEqual(await copies.stateOf(path), { is: 'copying', isWaiting: false });
  await become('whole');
  writeFileSync(join(from, 'disk.img'), 'later');
  begin();
  assert.equal(readFileSync(join(path, 'disk.img'), 'utf8'), 'data');
  copies.remove(path);
  await become('none');
});

test('what a killed process left is not taken for a copy, and is made again', async (t) => {
  const { copies, path, become, begin } = await places(t);
  mkdirSync(`${path}.unfinished`);
  writeFileSync(join(`${path}.unfinished`, 'disk.img'), 'da');
  assert.deepEqual(await copies.stateOf(path), { is: 'failed', message: 'it was interrupted', atMs: 0 });
  begin();
  await become('whole');
  assert.deepEqual([readFileSync(join(path, 'disk.img'), 'utf8'), existsSync(`${path}.unfinished`)], ['data', false]);
});

test('a removal that was killed leaves no half of a copy', async (t) => {
  const { copies, path, become } = await places(t);
  mkdirSync(path);
  mkdirSync(`${path}.unfinished`);
  copies.remove(path);
  await become('none');
  assert.equal(existsSync(`${path}.unfinished`), false);
});

test('a copy that failed says why, and leaves nothing', async (t) => {
  const { copies, from, path, become, begin } = await places(t);
  mkdirSync(join(from, ...Array.from({ length: 34 }, () => 'd')), { recursive: true });
  begin();
  await become('failed');
  const state = await copies.stateOf(path);
  assert.match(state.is === 'failed' ? state.message : '', /nested deeper/);
  assert.deepEqual([existsSync(path), existsSync(`${path}.unfinished`)], [false, false]);
});

test('of a thousand copies two are under way, the others wait, and those that nobody wants any more are never made', async (t) => {
  const { copies, from, path, begin } = await places(t);
  const paths = Array.from({ length: 1_000 }, (_, n) => `${path}-${n}`);
  const statesOf = async (is: string) => (await Promise.all(paths.map((each) => copies.stateOf(each)))).filter((state) => state.is === is);
  for (const each of paths) begin(each);
  const copying = await statesOf('copying');
  assert.equal(copying.length, 1_000);
  assert.equal(copying.filter((state) => state.is === 'copying' && !state.isWaiting).length, 2);
  for (const each of paths.slice(4)) copies.remove(each);
  await until(
    async () => (await statesOf('whole')).length === 4 && (await statesOf('none')).length === 996,
    'the first four alone to be made',
  );
  assert.deepEqual(
    readdirSync(dirname(from))
      .filter((name) => name.startsWith('copy'))
      .sort(),
    paths.slice(0, 4).map((each) => basename(each)),
  );
});

test('a copy that is removed while it is made is given up', async (t) => {
  const { copies, from, path, become, begin } = await places(t);
  const disk = openSync(join(from, 'disk.img'), 'w');
  const writing = setInterval(() => writeSync(disk, 'more'), 1); // it would wait for a quiet moment
  begin();
  copies.remove(path);
  await become('none');
  clearInterval(writing);
  closeSync(disk);
  assert.deepEqual([existsSync(path), existsSync(`${path}.unfinished`)], [false, false]);
});

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  return { copies, from, path, become };
}

test('a copy is made once, is whole when it is there, and goes', async (t) => {
  const { copies, from, path, become } = await places(t);
  copies.begin(from, path);
  assert.deepEqual(await copies.stateOf(path), { is: 'copying' });
  await become('whole');
  writeFileSync(join(from, 'disk.img'), 'later');
  copies.begin(from, path);
  assert.equal(readFileSync(join(path, 'disk.img'), 'utf8'), 'data');
  copies.remove(path);
  await become('none');
});

test('what a killed process left is not taken for a copy, and is made again', async (t) => {
  const { copies, from, path, become } = await places(t);
  mkdirSync(`${path}.unfinished`);
  writeFileSync(join(`${path}.unfinished`, 'disk.img'), 'da');
  assert.deepEqual(await copies.stateOf(path), { is: 'failed', message: 'it was interrupted', atMs: 0 });
  copies.begin(from, path);
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
  const { copies, from, path, become } = await places(t);
  mkdirSync(join(from, ...Array.from({ length: 34 }, () => 'd')), { recursive: true });
  copies.begin(from, path);
  await become('failed');
  const state = await copies.stateOf(path);
  assert.match(state.is === 'failed' ? state.message : '', /nested deeper/);
  assert.deepEqual([existsSync(path), existsSync(`${path}.unfinished`)], [false, false]);
});

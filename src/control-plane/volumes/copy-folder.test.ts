import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { copyFolder } from './copy-folder.ts';

async function folders(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'copy-'));
  t.after(() => rm(dir, { recursive: true }));
  const [from, into] = [join(dir, 'from'), join(dir, 'into')];
  const copy = (signal = new AbortController().signal) => copyFolder({ from, into, signal });
  return { from, into, copy };
}

test('files, their rights, folders and the text of links are copied, and holes stay holes', async (t) => {
  const { from, into, copy } = await folders(t);
  mkdirSync(join(from, 'inner'), { recursive: true });
  const disk = await open(join(from, 'disk.img'), 'w', 0o640);
  await disk.write(Buffer.from('begin'), 0, 5, 0);
  await disk.write(Buffer.from('end'), 0, 3, 64 * 2 ** 20 - 3);
  await disk.close();
  writeFileSync(join(from, 'inner', 'small'), 'small', { mode: 0o600 });
  symlinkSync('/etc/hostname', join(from, 'link'));
  await copy();
  assert.deepEqual((await readdir(into)).sort(), ['disk.img', 'inner', 'link']);
  const { size, blocks, mode } = statSync(join(into, 'disk.img'));
  assert.deepEqual([size, mode & 0o777, blocks * 512 < 2 ** 20], [64 * 2 ** 20, 0o640, true]);
  assert.ok(readFileSync(join(into, 'disk.img')).equals(readFileSync(join(from, 'disk.img'))));
  assert.deepEqual([readFileSync(join(into, 'inner', 'small'), 'utf8'), readlinkSync(join(into, 'link'))], ['small', '/etc/hostname']);
});

test('a folder that nobody has used yet is an empty copy', async (t) => {
  const { into, copy } = await folders(t);
  await copy();
  assert.deepEqual(await readdir(into), []);
});

test('what is written while it is copied is no copy', async (t) => {
  const { from, copy } = await folders(t);
  mkdirSync(from);
  const disk = await open(join(from, 'disk.img'), 'w');
  let isDone = false;
  const writing = (async () => {
    for (let at = 0; !isDone; at = (at + 1) % 64) await disk.write(Buffer.alloc(4096, at), 0, 4096, at * 4096);
  })();
  await assert.rejects(copy(), /written/);
  isDone = true;
  await writing;
  await disk.close();
});

test('folders without end are refused', async (t) => {
  const { from, copy } = await folders(t);
  mkdirSync(join(from, ...Array.from({ length: 34 }, () => 'd')), { recursive: true });
  await assert.rejects(copy(), /nested deeper/);
});

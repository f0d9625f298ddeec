import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { hasFiles, writeFiles } from './volume-files.ts';

const nobodyElse = { owner: undefined };

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return join(dir, 'volume');
}

test('files are links through ..data, which changes in one step; the folder stays and nothing old is left', async (t) => {
  const path = await folder(t);
  await writeFiles(
    path,
    new Map([
      ['a', '1'],
      ['deep/b', '2'],
      ['gone', '3'],
    ]),
    nobodyElse,
  );
  const { ino } = await stat(path);
  const before = await readlink(join(path, '..data'));
  const next = new Map([
    ['a', '4'],
    ['deep/c', '5'],
  ]);
  await writeFiles(path, next, nobodyElse);
  const now = await readlink(join(path, '..data'));
  assert.notEqual(now, before);
  assert.deepEqual((await readdir(path)).sort(), ['..data', now, 'a', 'deep'].sort());
  assert.deepEqual([await readlink(join(path, 'a')), await readFile(join(path, 'deep/c'), 'utf8')], ['..data/a', '5']);
  assert.equal((await stat(path)).ino, ino);
  assert.deepEqual([await hasFiles(path, next), await hasFiles(path, new Map([['a', '4']]))], [true, false]);
});

test('a folder of an earlier version, with plain files, becomes such a folder', async (t) => {
  const path = await folder(t);
  await mkdir(join(path, 'deep'), { recursive: true });
  for (const name of ['a', 'old', 'deep/b']) await writeFile(join(path, name), 'before');
  assert.equal(await hasFiles(path, new Map()), false);
  await writeFiles(
    path,
    new Map([
      ['a', 'x'],
      ['deep/b', 'y'],
    ]),
    nobodyElse,
  );
  assert.deepEqual((await readdir(path)).filter((name) => !name.startsWith('..')).sort(), ['a', 'deep']);
  assert.deepEqual([await readFile(join(path, 'a'), 'utf8'), await readFile(join(path, 'deep/b'), 'utf8')], ['x', 'y']);
});

test('a name that would be one of ours, or leads elsewhere, is refused', async (t) => {
  const path = await folder(t);
  for (const name of ['..data', '..x/y', '../x', '/x', 'a/../b', ''])
    await assert.rejects(writeFiles(path, new Map([[name, '']]), nobodyElse), /is not a usable file name/, name);
});

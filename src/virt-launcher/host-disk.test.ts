import assert from 'node:assert/strict';
import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findHostDisk } from './host-disk.ts';
import { unfinishedName } from './new-disk.ts';
import { qcow2Header } from './pod.testing.ts';

let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'host-disk-'));
  folder = join(base, 'disks');
  mkdirSync(folder);
});
afterEach(() => rmSync(base, { recursive: true }));

const find = (name: string, newSizeBytes?: number) =>
  findHostDisk({ folder, name, linkPath: join(base, 'link'), writer: 'vm root', newSizeBytes });

test('a file that is there keeps its owner, mode, size and content, whatever is asked for', () => {
  const path = join(folder, 'one.img');
  writeFileSync(path, qcow2Header({ size: 2n ** 40n }), { mode: 0o604 });
  const before = statSync(path);
  assert.deepEqual(find('one.img', 2 ** 30), { sizeBytes: 512, isNew: false, isLinked: true });
  const after = statSync(path);
  assert.deepEqual(
    [after.uid, after.gid, after.mode, after.size, after.mtimeMs],
    [before.uid, before.gid, before.mode, 512, before.mtimeMs],
  );
});

test('one that is missing is made whole, or not at all, and only when that was asked for', () => {
  assert.throws(() => find('one.img'), { code: 'HOST_DISK_MISSING' });
  writeFileSync(join(folder, unfinishedName('vm root one.img')), 'of a try that was killed');
  assert.deepEqual(find('one.img', 2 ** 30), { sizeBytes: 2 ** 30, isNew: true, isLinked: true });
  assert.deepEqual([readdirSync(folder), statSync(join(folder, 'one.img')).mode & 0o777], [['one.img'], 0o660]);
});

test('what is no file is refused, and no link is followed: not to a file that is there, not to one that could be made', () => {
  const outside = join(base, 'outside');
  writeFileSync(outside, 'kept');
  symlinkSync(outside, join(folder, 'link.img'));
  symlinkSync(join(base, 'nowhere'), join(folder, 'dangling.img'));
  mkdirSync(join(folder, 'folder.img'));
  for (const name of ['link.img', 'dangling.img', 'folder.img'])
    assert.throws(() => find(name, 2 ** 20), { code: 'IMAGE_FILE_REFUSED' }, name);
  assert.deepEqual(readdirSync(base).sort(), ['disks', 'outside']);
  linkSync(outside, join(folder, 'hard.img')); // whoever may write to the folder has named it: its owner and mode say who may use it
  assert.equal(find('hard.img', 2 ** 20).sizeBytes, 4);
});

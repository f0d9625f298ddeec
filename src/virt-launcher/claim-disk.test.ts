import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { findClaimDisk, newDiskBytesFor } from './claim-disk.ts';
import { qcow2Header } from './pod.testing.ts';

let base: string;
let folder: string;
let linkPath: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'claim-'));
  folder = join(base, 'volume');
  linkPath = join(base, 'link');
  mkdirSync(folder);
});
afterEach(() => rmSync(base, { recursive: true }));

const find = (newSizeBytes?: number) => findClaimDisk({ folder, linkPath, newSizeBytes });

test('a missing disk is made sparse, with the size that is left of the claim', () => {
  assert.deepEqual(find(2 ** 30), { format: 'raw', sizeBytes: 2 ** 30, isNew: true, isLinked: true });
  const { size, blocks, mode } = statSync(join(folder, 'disk.img'));
  assert.deepEqual([size, blocks, mode & 0o777], [2 ** 30, 0, 0o600]);
});

test('a disk that is there is used as it is, whatever the claim says', () => {
  writeFileSync(join(folder, 'disk.img'), Buffer.alloc(4096, 7));
  assert.deepEqual(find(2 ** 30), { format: 'raw', sizeBytes: 4096, isNew: false, isLinked: true });
  assert.deepEqual(readFileSync(linkPath), Buffer.alloc(4096, 7));
});

test('a qcow2 disk is known by its first bytes', () => {
  writeFileSync(join(folder, 'disk.img'), qcow2Header({}));
  assert.equal(find().format, 'qcow2');
});

for (const [what, make, code] of [
  ['a symbolic link', (path: string) => symlinkSync('/etc/hostname', path), 'IMAGE_FILE_REFUSED'],
  ['a dangling link', (path: string) => symlinkSync(join(base, 'elsewhere'), path), 'IMAGE_FILE_REFUSED'],
  ['a folder', (path: string) => mkdirSync(path), 'IMAGE_FILE_REFUSED'],
  ['an overlay of another file', (path: string) => writeFileSync(path, qcow2Header({ backingOffset: 64n })), 'IMAGE_HAS_BACKING_FILE'],
  ['qcow2 with an outer data file', (path: string) => writeFileSync(path, qcow2Header({ features: 4n })), 'IMAGE_HAS_DATA_FILE'],
] as const) {
  test(`${what} is refused as a disk`, () => {
    make(join(folder, 'disk.img'));
    assert.throws(() => find(2 ** 30), { code });
  });
}

test('nothing is made on a claim that is only read, or too small', () => {
  assert.throws(() => find(undefined), { code: 'IMAGE_FILE_MISSING' });
  assert.throws(() => find(0), { code: 'DISK_SIZE_INVALID' });
});

test('the size of a new disk comes from the Pod', () => {
  assert.equal(newDiskBytesFor({ [LAUNCHER_VARIABLES.newDiskBytes]: '{"data":1048576}' }, 'data'), 1048576);
  assert.equal(newDiskBytesFor({}, 'data'), undefined);
});

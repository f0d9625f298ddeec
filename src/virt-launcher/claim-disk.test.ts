import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { findClaimDisk, newDiskBytesFor } from './claim-disk.ts';
import type { FormatSources } from './disk-format.ts';
import { unfinishedName } from './new-disk.ts';
import { qcow2Header } from './pod.testing.ts';
import { createQcow2 } from './qcow2.ts';

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

const UNKNOWN = { declared: undefined, ofImage: undefined };
const find = (newSizeBytes?: number, format: FormatSources = UNKNOWN) =>
  findClaimDisk({ folder, linkPath, writer: 'vm root', newSizeBytes, format });

test('a missing disk is made sparse, with the size that is left of the claim, for whoever mounts that', () => {
  assert.deepEqual(find(2 ** 30), { format: 'raw', sizeBytes: 2 ** 30, isNew: true, isLinked: true });
  const { size, blocks, mode } = statSync(join(folder, 'disk.img'));
  assert.deepEqual([size, blocks, mode & 0o777], [2 ** 30, 0, 0o660]);
});

test('what a killed start left is no disk: a file without its size, an empty note, and the note of another format', () => {
  writeFileSync(join(folder, unfinishedName('vm root')), '');
  for (const note of ['', 'qcow2\n']) {
    writeFileSync(join(folder, 'disk.img.format'), note);
    assert.deepEqual(find(2 ** 20), { format: 'raw', sizeBytes: 2 ** 20, isNew: true, isLinked: true });
    assert.deepEqual(readdirSync(folder), ['disk.img', 'disk.img.format']);
    for (const made of [linkPath, join(folder, 'disk.img')]) rmSync(made);
  }
});

test('of two machines that begin on one PVC the first makes the disk, and the other one has it', () => {
  const fill = () => {
    assert.equal(find(2 ** 20).isNew, true);
    return false;
  };
  const other = findClaimDisk({ folder, linkPath: join(base, 'other'), writer: 'vm-2 root', newSizeBytes: 2 ** 21, format: UNKNOWN, fill });
  assert.deepEqual([other.isNew, statSync(linkPath).ino], [false, statSync(join(base, 'other')).ino]);
});

test('a disk that is there is used as it is, whatever the claim says', () => {
  writeFileSync(join(folder, 'disk.img'), Buffer.alloc(4096, 7));
  assert.deepEqual(find(2 ** 30), { format: 'raw', sizeBytes: 4096, isNew: false, isLinked: true });
  assert.deepEqual(readFileSync(linkPath), Buffer.alloc(4096, 7));
});

test('a guest that writes a qcow2 header onto its raw disk has a raw disk with such a beginning', () => {
  find(2 ** 20);
  writeFileSync(join(folder, 'disk.img'), Buffer.concat([qcow2Header({}), Buffer.alloc(2 ** 20)]).subarray(0, 2 ** 20));
  rmSync(linkPath);
  assert.deepEqual(find(2 ** 20), { format: 'raw', sizeBytes: 2 ** 20, isNew: false, isLinked: true });
});

const KEPT: readonly [title: string, note: string | undefined, sources: FormatSources, format: string][] = [
  ['the annotation of its claim', undefined, { declared: 'qcow2', ofImage: undefined }, 'qcow2'],
  ['the note beside it', 'qcow2\n', UNKNOWN, 'qcow2'],
  ['the image that it began as', undefined, { declared: undefined, ofImage: () => 'qcow2' }, 'qcow2'],
  ['the annotation rather than the note', 'qcow2\n', { declared: 'raw', ofImage: undefined }, 'raw'],
  ['the note rather than the image', 'raw\n', { declared: undefined, ofImage: () => 'qcow2' }, 'raw'],
];
for (const [title, note, sources, format] of KEPT) {
  test(`the format of a disk is told by ${title}`, () => {
    writeFileSync(join(folder, 'disk.img'), qcow2Header({}));
    if (note) writeFileSync(join(folder, 'disk.img.format'), note);
    assert.equal(find(undefined, sources).format, format);
  });
}

test('a note that nobody of ours wrote is refused', () => {
  writeFileSync(join(folder, 'disk.img'), qcow2Header({}));
  writeFileSync(join(folder, 'disk.img.format'), 'vmdk');
  assert.throws(() => find(), { code: 'DISK_FORMAT_UNKNOWN' });
  rmSync(join(folder, 'disk.img.format'));
  symlinkSync('/etc/hostname', join(folder, 'disk.img.format'));
  assert.throws(() => find(), { code: 'IMAGE_FILE_REFUSED' });
});

test('a disk that is not of its format is refused', () => {
  writeFileSync(join(folder, 'disk.img'), Buffer.alloc(4096));
  assert.throws(() => find(undefined, { declared: 'qcow2', ofImage: undefined }), { code: 'DISK_FORMAT_MISMATCH' });
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
    assert.throws(() => find(2 ** 30, { declared: 'qcow2', ofImage: undefined }), { code });
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

test('a disk of ours grows with its PVC, and never shrinks', () => {
  find(2 ** 20);
  for (const [wanted, expected] of [
    [2 ** 22, 2 ** 22],
    [2 ** 21, 2 ** 22],
  ] as const) {
    rmSync(linkPath);
    assert.deepEqual(find(wanted), { format: 'raw', sizeBytes: expected, isNew: false, isLinked: true });
  }
});

test('the format of a disk that began as an image is written down, for a start without that image', () => {
  writeFileSync(join(folder, 'disk.img'), Buffer.concat([qcow2Header({}), Buffer.alloc(2 ** 20)]));
  assert.equal(find(undefined, { declared: undefined, ofImage: () => 'qcow2' }).format, 'qcow2');
  rmSync(linkPath);
  assert.equal(find().format, 'qcow2');
});

test('a disk that cannot grow is used with the size that it has, and it is said why', () => {
  find(2 ** 20);
  rmSync(linkPath);
  const { whyNotGrown, ...raw } = find(2 ** 60); // more than any file system takes
  assert.deepEqual(raw, { format: 'raw', sizeBytes: 2 ** 20, isNew: false, isLinked: true });
  assert.match(whyNotGrown ?? '', /EFBIG|EINVAL|out of range/);
  rmSync(join(folder, 'disk.img'));
  rmSync(linkPath);
  createQcow2(join(folder, 'disk.img'), 2 ** 20);
  writeFileSync(join(folder, 'disk.img.format'), 'qcow2');
  const { sizeBytes, whyNotGrown: why } = find(5 * 2 ** 40);
  assert.deepEqual([sizeBytes, why], [2 ** 20, 'the tables of this image have no room for that']);
});

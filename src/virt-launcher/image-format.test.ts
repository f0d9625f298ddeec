import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readImageFacts } from './image-format.ts';
import { qcow2Header } from './pod.testing.ts';
import { createQcow2 } from './qcow2.ts';

const folder = mkdtempSync(join(tmpdir(), 'image-format-'));
after(() => rmSync(folder, { recursive: true }));
let count = 0;

function factsOf(content: Buffer | string) {
  const path = join(folder, `image${count++}`);
  writeFileSync(path, content);
  return factsOfFile(path);
}

function factsOfFile(path: string) {
  const file = openSync(path, 'r');
  try {
    return readImageFacts(file, 'disk/disk.img');
  } finally {
    closeSync(file);
  }
}

test('a file without a known beginning is raw', () => {
  assert.deepEqual(factsOf(Buffer.alloc(1000)), { format: 'raw', sizeBytes: 1000 });
});

test('a qcow2 image has the size that its guest sees', () => {
  assert.deepEqual(factsOf(qcow2Header({ size: 5n * 2n ** 30n })), { format: 'qcow2', sizeBytes: 5 * 2 ** 30 });
});

const REFUSED: [name: string, content: Buffer | string, code: string][] = [
  ['an empty file', '', 'IMAGE_EMPTY'],
  ['a qcow2 overlay', qcow2Header({ backingOffset: 104n }), 'IMAGE_HAS_BACKING_FILE'],
  ['a qcow2 version 2 overlay', qcow2Header({ version: 2, backingOffset: 104n }), 'IMAGE_HAS_BACKING_FILE'],
  ['a qcow2 image with an external data file', qcow2Header({ features: 4n }), 'IMAGE_HAS_DATA_FILE'],
  ['a qcow2 image marked as corrupt', qcow2Header({ features: 2n }), 'IMAGE_CORRUPT'],
  ['a qcow2 image from the future', qcow2Header({ features: 2n ** 40n }), 'IMAGE_UNSUPPORTED'],
  ['a qcow image of version 1', qcow2Header({ version: 1 }), 'IMAGE_UNSUPPORTED'],
  ['an encrypted qcow2 image', qcow2Header({ encryption: 2 }), 'IMAGE_ENCRYPTED'],
  ['a qcow2 image of 8 EiB', qcow2Header({ size: 2n ** 63n }), 'IMAGE_TOO_LARGE'],
  ['a qcow2 image with a huge table', qcow2Header({ l1Entries: 0xffffffff }), 'IMAGE_TOO_LARGE'],
  ['a qcow2 image with 64k snapshots', qcow2Header({ snapshots: 65535 }), 'IMAGE_TOO_LARGE'],
  ['a qcow2 image with impossible clusters', qcow2Header({ clusterBits: 40 }), 'IMAGE_CORRUPT'],
  ['a qcow2 image without data', qcow2Header({ size: 0n }), 'IMAGE_EMPTY'],
  ['a qcow2 header that is cut off', qcow2Header({}).subarray(0, 50), 'IMAGE_CORRUPT'],
  ['a VMDK', 'KDMV\x01\0\0\0', 'IMAGE_UNSUPPORTED'],
  ['a VHDX', 'vhdxfile', 'IMAGE_UNSUPPORTED'],
  ['a compressed image', Buffer.from([0x1f, 0x8b, 8, 0]), 'IMAGE_UNSUPPORTED'],
];
for (const [name, content, code] of REFUSED) test(`${name} is refused`, () => assert.throws(() => factsOf(content), { code }));

test('an overlay made by qemu-img is refused', () => {
  const [base, overlay] = [join(folder, 'base.raw'), join(folder, 'overlay.qcow2')];
  writeFileSync(base, Buffer.alloc(2 ** 20));
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', base, '-F', 'raw', overlay]);
  assert.throws(() => factsOfFile(overlay), { code: 'IMAGE_HAS_BACKING_FILE' });
});

test('an image with a data file made by qemu-img is refused', () => {
  const image = join(folder, 'external.qcow2');
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', '-o', `data_file=${folder}/data.raw`, image, '1M']);
  assert.throws(() => factsOfFile(image), { code: 'IMAGE_HAS_DATA_FILE' });
});

for (const size of [1, 2 ** 20, 2 ** 29 + 512, 20 * 2 ** 30, 5 * 2 ** 40]) {
  test(`qemu-img finds no fault in an image of ${size} bytes that we made`, () => {
    const path = join(folder, `made-${size}.qcow2`);
    createQcow2(path, size);
    execFileSync('qemu-img', ['check', '-q', '-f', 'qcow2', path]);
    const info = JSON.parse(execFileSync('qemu-img', ['info', '--output=json', '-f', 'qcow2', path], { encoding: 'utf8' }));
    assert.equal(info['virtual-size'], Math.ceil(size / 512) * 512);
    assert.ok(statSync(path).blocks * 512 < 64 * 1024, 'an empty image takes no room');
    assert.equal(readFileSync(path).readUInt32BE(0), 0x514649fb);
  });
}

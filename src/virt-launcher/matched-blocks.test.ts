import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { withMatchedBlocks } from './matched-blocks.ts';

const folder = mkdtempSync(join(tmpdir(), 'matched-blocks-'));
after(() => rmSync(folder, { recursive: true }));
const disk = { name: 'root', blockSize: { matchVolume: {} } };

test('a file can be read by sectors, and is kept in the blocks of its file system', () => {
  const path = join(folder, 'disk.img');
  writeFileSync(path, 'x');
  const image = { path, format: 'raw' } as const;
  const matched = { logicalBytes: 512, physicalBytes: statfsSync(path).bsize };
  assert.deepEqual(withMatchedBlocks(image, disk), { ...image, matched });
  assert.deepEqual(withMatchedBlocks(image, { name: 'root' }), image);
  assert.deepEqual(withMatchedBlocks(image, { name: 'root', blockSize: { matchVolume: { enabled: false } } }), image);
});

test('a device has the blocks that the kernel says', () => {
  // /dev/null is a device with a number like any other: 1:3.
  const queue = join(folder, '1:3/queue');
  mkdirSync(queue, { recursive: true });
  writeFileSync(join(queue, 'logical_block_size'), '4096\n');
  writeFileSync(join(queue, 'physical_block_size'), '16384\n');
  const image = { path: '/dev/null', format: 'raw', isDevice: true } as const;
  assert.deepEqual(withMatchedBlocks(image, disk, folder).matched, { logicalBytes: 4096, physicalBytes: 16_384 });
  assert.throws(() => withMatchedBlocks(image, disk, join(folder, 'nowhere')), { code: 'DISK_INVALID' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveProgressOf } from './move-progress.ts';

const MIB = 2 ** 20;
const half = {
  stage: 'Memory',
  bytesDone: 64 * MIB,
  bytesLeft: 64 * MIB,
  bytesPerSecond: 32 * MIB,
  lastUpdate: '2026-01-01T00:00:00Z',
} as const;

test('a bar, how much, how fast, and how long', () => {
  assert.equal(moveProgressOf(half), '[##########----------] memory 50 % · 64 of 128 MiB · 32.0 MiB/s · 2 s left');
});

test('what the guest writes meanwhile takes longer', () => {
  assert.match(moveProgressOf({ ...half, dirtyBytesPerSecond: 31 * MIB }), / · 64 s left$/);
  assert.match(moveProgressOf({ ...half, bytesLeft: 4096 * MIB, dirtyBytesPerSecond: 31 * MIB }), / · 69 min left$/);
  assert.match(moveProgressOf({ ...half, dirtyBytesPerSecond: 32 * MIB }), / · the guest writes as fast as it is copied$/);
});

test('a copy that has just begun has no rate, and takes no time', () => {
  assert.equal(
    moveProgressOf({ ...half, stage: 'Disks', bytesDone: 0, bytesLeft: 0, bytesPerSecond: 0 }),
    '[--------------------] disks 0 % · 0 of 1 MiB',
  );
});

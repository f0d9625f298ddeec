import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PieceSize } from './piece-size.ts';

test('pieces grow while they come through, up to a bound', () => {
  const pieces = new PieceSize();
  const sizes = Array.from({ length: 9 }, () => {
    pieces.came(pieces.bytes, 10);
    return pieces.bytes / 2 ** 18;
  });
  assert.deepEqual(sizes, [2, 4, 8, 16, 32, 64, 64, 64, 64]);
});

test('what stood still is never tried again, and there is a least size', () => {
  const pieces = new PieceSize();
  for (let i = 0; i < 3; i++) pieces.came(pieces.bytes, 10);
  pieces.stoodStill();
  assert.equal(pieces.bytes, 2 ** 20);
  pieces.came(pieces.bytes, 10);
  assert.equal(pieces.bytes, 2 ** 20);
  for (let i = 0; i < 10; i++) pieces.stoodStill();
  assert.equal(pieces.bytes, 2 ** 16);
});

test('a piece may take several times as long as the one before, and some seconds in any case', () => {
  const pieces = new PieceSize();
  assert.equal(pieces.patienceMs(), 10_000);
  pieces.came(2 ** 18, 1);
  assert.equal(pieces.patienceMs(), 2_000);
  pieces.came(2 ** 18, 5_000);
  assert.equal(pieces.patienceMs(), 160_000);
});

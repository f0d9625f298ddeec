import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieceRange, rangeOf } from './parse-range.ts';

const RANGES: readonly [header: string | null, range: ReturnType<typeof rangeOf>][] = [
  [null, undefined],
  ['bytes=0-9', { from: 0, to: 10 }],
  ['bytes=90-', { from: 90, to: 100 }],
  ['bytes=90-1000', { from: 90, to: 100 }],
  ['bytes=-10', { from: 90, to: 100 }],
  ['bytes=-1000', { from: 0, to: 100 }],
  ['bytes=100-', { from: 100, to: 100 }],
  ['bytes=-', undefined],
  ['bytes=9-3', undefined],
  ['bytes=0-1,5-6', undefined],
  ['lines=0-1', undefined],
  ['bytes=9999999999999999-', undefined],
];
for (const [header, range] of RANGES)
  test(`of 100 bytes, ${header} is ${JSON.stringify(range)}`, () => assert.deepEqual(rangeOf(header, 100), range));

test('a piece is in the disk, and bounded', () => {
  const piece = (query: string) => pieceRange(new URLSearchParams(query), { sizeBytes: 100, mostBytes: 64 });
  assert.deepEqual(piece('from=0&bytes=64'), { from: 0, to: 64 });
  assert.deepEqual(piece('from=90&bytes=64'), { from: 90, to: 100 });
  for (const wrong of ['', 'from=0', 'from=0&bytes=65', 'from=100&bytes=1', 'from=-1&bytes=1', 'from=0&bytes=0', 'from=1e1&bytes=1'])
    assert.throws(() => piece(wrong), { reason: 'BadRequest' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieceOf } from './parse-content-range.ts';

const piece = (headers: Record<string, string>) => pieceOf(new Headers(headers));

test('without a range it is all of the file', () => {
  assert.deepEqual(piece({}), { from: 0, to: undefined, totalBytes: undefined });
  assert.deepEqual(piece({ 'content-length': '512' }), { from: 0, to: 512, totalBytes: 512 });
});

test('a range is a part of a file of known size', () => {
  assert.deepEqual(piece({ 'content-range': 'bytes 512-1023/2048', 'content-length': '512' }), { from: 512, to: 1024, totalBytes: 2048 });
});

for (const range of [
  'bytes */2048',
  'bytes 5-4/10',
  'bytes 0-10/10',
  'bytes 0-1/*',
  'items 0-1/2',
  'bytes 0-1/99999999999999999999',
  'bytes -1-1/2',
])
  test(`${range} is no range`, () => assert.throws(() => piece({ 'content-range': range }), { reason: 'BadRequest' }));

test('a length that contradicts its range is refused', () =>
  assert.throws(() => piece({ 'content-range': 'bytes 0-1/2', 'content-length': '3' }), { reason: 'BadRequest' }));

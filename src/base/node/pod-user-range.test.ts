import assert from 'node:assert/strict';
import { test } from 'node:test';
import { otherUsers, rangeWithin } from './pod-user-range.ts';

const ALL = '         0          0 4294967295\n';

test('a machine with all ids has a range that nobody else uses', () => {
  assert.deepEqual(rangeWithin([ALL, ALL]), { first: 1_879_048_192, count: 134_217_728 });
});

test('a container with 64k ids has a smaller one', () => {
  assert.deepEqual(rangeWithin(['0 100000 65536\n', ALL]), { first: 40_000, count: 20_000 });
});

test('a namespace with one id, or with too few groups, has none', () => {
  assert.equal(rangeWithin(['0 1000 1\n', '0 1000 1\n']), undefined);
  assert.equal(rangeWithin([ALL, '0 0 1000\n1000 2000 50000\n']), undefined);
});

test('with subordinate ids there is the smaller one', () => {
  const map = '0 1000 1\n1 100000 65535\n';
  assert.deepEqual(rangeWithin([map, map]), { first: 40_000, count: 20_000 });
});

test('everybody around the range but root', () => {
  assert.deepEqual(otherUsers({ first: 1_879_048_192, count: 1 }, ALL), { first: 1, count: 2 ** 32 - 2 });
  assert.deepEqual(otherUsers({ first: 40_000, count: 1 }, '0 1000 1\n1 100000 65535\n'), { first: 1, count: 65_535 });
  assert.equal(otherUsers({ first: 40_000, count: 1 }, '0 1000 1\n'), undefined);
});

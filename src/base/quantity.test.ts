import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes, formatCores, parseQuantity } from './quantity.ts';

const PARSED: [string | number, number | undefined][] = [
  ['64M', 64_000_000],
  ['128Mi', 134_217_728],
  ['1.5Gi', 1_610_612_736],
  ['500m', 0.5],
  ['2e3', 2000],
  [3, 3],
  ['.5', 0.5],
  ['', undefined],
  ['12x', undefined],
  ['1 Gi', undefined],
  ['Mi', undefined],
];

for (const [text, expected] of PARSED) {
  test(`${JSON.stringify(text)} is ${expected ?? 'not a quantity'}`, () => assert.equal(parseQuantity(text), expected));
}

test('bytes are written in the largest unit that keeps them whole', () => {
  assert.deepEqual([134_217_728, 1024, 1000, 1_610_612_736].map(formatBytes), ['128Mi', '1Ki', '1000', '1536Mi']);
});

test('cores are written in thousandths when they are not whole', () => {
  assert.deepEqual([0.1, 2, 1.25].map(formatCores), ['100m', '2', '1250m']);
});

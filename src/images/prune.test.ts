import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseToRemove } from './prune.ts';

const HOUR = 3_600_000;
const cached = [
  { digest: 'new', usedAtMs: 9.9 * HOUR, sizeBytes: 40 },
  { digest: 'old', usedAtMs: 1 * HOUR, sizeBytes: 40 },
  { digest: 'older', usedAtMs: 0, sizeBytes: 40 },
  { digest: 'middle', usedAtMs: 5 * HOUR, sizeBytes: 40 },
];
const choose = (maxBytes: number, keep: string[] = []) => chooseToRemove(cached, { maxBytes, keep: new Set(keep), now: 10 * HOUR });

test('what was not used for longest goes first, and no more than has to', () => {
  assert.deepEqual([choose(160), choose(159), choose(100)], [[], ['older'], ['older', 'old']]);
});

test('what is in use, or was a moment ago, stays, even when the rest is too much', () => {
  assert.deepEqual(choose(0, ['older']), ['old', 'middle']);
});

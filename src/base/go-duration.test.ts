import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGoDuration } from './go-duration.ts';

test('durations are read as Go writes them', () => {
  assert.deepEqual(['5m0s', '1h30m', '1.5s', '300ms', '0', '0s'].map(parseGoDuration), [300_000, 5_400_000, 1_500, 300, 0, 0]);
});

test('anything else is none', () => {
  for (const text of ['', '5', '-5m', '5 m', 'm', '1e3s', '5m,', `${'1s'.repeat(40)}`])
    assert.equal(parseGoDuration(text), undefined, text);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBulk } from './run-bulk.ts';

test('after a stop nothing more is begun, what was begun is counted, and what is left is told', async () => {
  const stop = new AbortController();
  const begun: number[] = [];
  const result = await runBulk({
    items: [1, 2, 3, 4, 5, 6],
    atOnce: 2,
    signal: stop.signal,
    async does(item) {
      begun.push(item);
      if (item === 3) stop.abort();
      if (item === 2) throw new Error('no');
    },
    onProgress: () => {},
  });
  assert.deepEqual([begun, result], [[1, 2, 3], { tried: 3, failures: [{ item: 2, message: 'no' }], left: [4, 5, 6] }]);
});

test('all are done when nobody stops it, never more at once than is allowed', async () => {
  let now = 0;
  let most = 0;
  const seen: number[] = [];
  const { tried, left } = await runBulk({
    items: Array.from({ length: 20 }, (_, index) => index),
    atOnce: 3,
    signal: new AbortController().signal,
    async does() {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now -= 1;
    },
    onProgress: ({ tried }) => seen.push(tried),
  });
  assert.deepEqual([tried, left, most, seen.at(-1)], [20, [], 3, 20]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processLimit } from './container-limits.ts';

test('a container has no more processes than we may have', () => {
  const limits = (hard: string) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax processes             100                 ${hard}              processes \n`;
  assert.deepEqual(
    ['unlimited', '95000', '900'].map((hard) => processLimit(limits(hard))),
    [4096, 4096, 900],
  );
});

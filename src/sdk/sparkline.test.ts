import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketsOf, sparkline } from './sparkline.ts';

test('points become the means of equal parts of the time; where nothing was measured there is nothing', () => {
  const points = [
    { atSeconds: 1000, cpuCores: 1 },
    { atSeconds: 1020, cpuCores: 3 },
    { atSeconds: 1070, cpuCores: 5 },
    { atSeconds: 1080 },
    { atSeconds: 900, cpuCores: 9 },
  ];
  const asked = { field: 'cpuCores', nowMs: 1_100_000, seconds: 100, count: 4 } as const;
  assert.deepEqual(bucketsOf({ stepSeconds: 20, points }, asked), [2, undefined, 5, undefined]);
});

test('a bar is as high as its part of the most, and never higher', () => {
  assert.equal(sparkline([0, 0.5, 1, 2, undefined], 1), '▁▅██ ');
  assert.equal(sparkline([0], 0), '▁');
});

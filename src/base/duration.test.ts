import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanDuration } from './duration.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const CASES: [number, string][] = [
  [0, '0s'],
  [119 * SECOND, '119s'],
  [200 * SECOND, '3m20s'],
  [15 * 60 * SECOND, '15m'],
  [3.5 * HOUR, '3h30m'],
  [30 * HOUR, '30h'],
  [75 * HOUR, '3d3h'],
  [400 * 24 * HOUR, '400d'],
  [-5000, '<invalid>'],
];

for (const [ms, expected] of CASES) test(`${ms} ms is ${expected}`, () => assert.equal(humanDuration(ms), expected));

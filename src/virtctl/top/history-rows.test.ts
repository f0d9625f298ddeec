import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vmi } from '../../testing/builders.ts';
import { historyRows } from './history-rows.ts';

test('a machine is a picture of its processors, and the mean and the most of what it used', () => {
  const points = [
    { atSeconds: 1000, cpuCores: 0.5, residentBytes: 64 * 2 ** 20 },
    { atSeconds: 1580, cpuCores: 1.5, residentBytes: 32 * 2 ** 20 },
  ];
  const options = { isAcross: false, nowMs: 1_600_000, seconds: 600 };
  const [header, row] = historyRows([{ vmi: vmi('Running'), history: { stepSeconds: 20, points } }], options);
  assert.deepEqual(header, ['NAME', 'CPU', 'MEAN(cores)', 'MOST(cores)', 'MEMORY(bytes)', 'MOST(bytes)']);
  assert.deepEqual(row, ['db', `▃${' '.repeat(28)}█`, '1000m', '1500m', '32Mi', '64Mi']);
});

test('what is not known is a dash', () => {
  const options = { isAcross: true, nowMs: 0, seconds: 600 };
  assert.deepEqual(historyRows([{ vmi: vmi('Running') }], options)[1], ['default', 'db', '-', '-', '-', '-', '-']);
});

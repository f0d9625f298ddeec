import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveLatest, deriveMemory, deriveMost, derivePath, deriveTable, rateText } from './derive-charts.ts';

const NOW = { nowMs: 1_100_000, seconds: 100 };
const HISTORY = {
  stepSeconds: 20,
  points: [
    { atSeconds: 900, cpuCores: 9 },
    { atSeconds: 1000, cpuCores: 0 },
    { atSeconds: 1020, cpuCores: 1, residentBytes: 64 * 2 ** 20 },
    { atSeconds: 1080, cpuCores: 4 },
  ],
};

test('a line goes through what was measured, begins anew after a gap, and stays inside', () => {
  assert.equal(derivePath(HISTORY, 'cpuCores', { ...NOW, width: 50, height: 20, most: 2 }), 'M0.0 20.0h.1L10.0 10.0M40.0 0.0h.1');
  assert.equal(derivePath(HISTORY, 'networkSentBytesPerSecond', { ...NOW, width: 50, height: 20, most: 0 }), '');
});

test('what is old is not what is now', () => {
  assert.equal(deriveLatest(HISTORY, 'cpuCores', 1_100_000), 4);
  assert.equal(deriveLatest(HISTORY, 'cpuCores', 1_200_000), undefined);
  assert.equal(deriveMost(HISTORY, ['cpuCores', 'diskReadBytesPerSecond']), 9);
});

test('memory is as the guest sees it, or as its node does', () => {
  assert.deepEqual(deriveMemory(HISTORY, 128 * 2 ** 20, 1_100_000), { share: 0.5, text: '64Mi of 128Mi' });
  const told = { ...HISTORY, points: [{ atSeconds: 1090, residentBytes: 1, guestUsedBytes: 256 * 2 ** 20 }] };
  assert.deepEqual(deriveMemory(told, 128 * 2 ** 20, 1_100_000), { share: 1, text: '256Mi of 128Mi' });
  assert.equal(deriveMemory({ stepSeconds: 20, points: [] }, 1, 0), undefined);
});

test('a table says the means of the parts of the time, the latest first, and nothing of those without', () => {
  const span = { nowMs: 1_100_000, seconds: 600 }; // parts of 50 s
  assert.deepEqual(deriveTable(HISTORY, ['cpuCores', 'residentBytes'], span), [
    { atMs: 1_100_000, values: { cpuCores: 4 } },
    { atMs: 1_050_000, values: { cpuCores: 1, residentBytes: 64 * 2 ** 20 } },
    { atMs: 1_000_000, values: { cpuCores: 0 } },
    { atMs: 900_000, values: { cpuCores: 9 } },
  ]);
});

test('what is put together in a part is its mean', () => {
  const [row] = deriveTable(HISTORY, ['cpuCores'], { nowMs: 1_081_000, seconds: 2400 }); // parts of 200 s
  assert.deepEqual(row?.values, { cpuCores: (9 + 0 + 1 + 4) / 4 });
});

test('rates are in words', () => {
  assert.deepEqual([12, 2048, 3 * 2 ** 20].map(rateText), ['12 B/s', '2.0 KiB/s', '3.0 MiB/s']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveHistoryPoint, deriveUsageHistory } from './derive-history.ts';
import { type GuestFigures, readDisks } from './guest-figures.ts';

function figures(atMs: number, cpuSeconds: number, readBytes: number): GuestFigures {
  return {
    atMs,
    process: { userSeconds: cpuSeconds, systemSeconds: 0, residentBytes: 4096 },
    memory: { availableBytes: 100, usableBytes: 40 },
    disks: readDisks([{ qdev: '/machine/peripheral/disk0', stats: { rd_bytes: readBytes } }], ['root']),
    networks: [],
    vcpus: [],
    fileSystems: [],
  };
}

test('two looks make rates; what nobody counts is not zero', () => {
  assert.deepEqual(deriveHistoryPoint(figures(20_000, 11, 2000), figures(0, 1, 0)), {
    atSeconds: 20,
    cpuCores: 0.5,
    residentBytes: 4096,
    guestUsedBytes: 60,
    diskReadBytesPerSecond: 100,
    diskWrittenBytesPerSecond: 0,
  });
});

test('one look alone, counts that begin anew and a clock that was set back make no rates', () => {
  const amounts = { atSeconds: 20, residentBytes: 4096, guestUsedBytes: 60 };
  assert.deepEqual(deriveHistoryPoint(figures(20_000, 11, 2000), undefined), amounts);
  assert.deepEqual(deriveHistoryPoint(figures(20_000, 11, 2000), figures(30_000, 1, 0)), amounts);
  assert.deepEqual(deriveHistoryPoint(figures(20_000, 1, 0), figures(0, 5, 2000)), { ...amounts, diskWrittenBytesPerSecond: 0 });
});

test('of a long time there are fewer points, the means of what was known', () => {
  const points = [
    { atSeconds: 1200, cpuCores: 1 },
    { atSeconds: 1220, cpuCores: 3, residentBytes: 8 },
    { atSeconds: 1300, cpuCores: 5 },
  ];
  assert.deepEqual(deriveUsageHistory(points, 3600), { stepSeconds: 20, points });
  const { stepSeconds, points: fewer } = deriveUsageHistory(points, 36_000);
  assert.equal(stepSeconds, 100);
  assert.deepEqual(fewer, [
    { atSeconds: 1200, cpuCores: 2, residentBytes: 8 },
    { atSeconds: 1300, cpuCores: 5 },
  ]);
});

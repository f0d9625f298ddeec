import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HISTORY_SECONDS, HISTORY_STEPS, MEASURED_EVERY_SECONDS } from '../../api/handler/usage-history.ts';
import { HistoryRing, RING_BYTES } from './history-ring.ts';

const NOW = 1_800_000_000;

test('a machine costs at most 64 KiB, however long it is measured', () => {
  assert.ok(RING_BYTES <= 64 * 1024);
  const ring = new HistoryRing();
  for (let step = 0; step < 3 * HISTORY_STEPS; step++) ring.add({ atSeconds: NOW + step * MEASURED_EVERY_SECONDS, cpuCores: step });
  const last = NOW + (3 * HISTORY_STEPS - 1) * MEASURED_EVERY_SECONDS;
  const points = ring.points(last);
  assert.deepEqual(
    [points.length, points[0]?.cpuCores, points.at(-1)?.cpuCores],
    [HISTORY_STEPS, 2 * HISTORY_STEPS, 3 * HISTORY_STEPS - 1],
  );
  assert.equal(ring.points(last, 3600).length, 3600 / MEASURED_EVERY_SECONDS);
  assert.equal(ring.bytes.length, RING_BYTES);
});

test('what was not known stays unknown, and the bytes of one are good for another', () => {
  const ring = new HistoryRing();
  ring.add({ atSeconds: NOW, residentBytes: 4096 });
  assert.deepEqual(new HistoryRing(Buffer.from(ring.bytes)).points(NOW), [{ atSeconds: NOW, residentBytes: 4096 }]);
});

test('a clock that was set back, hours without a step and a file of nonsense show nothing that is not so', () => {
  const ring = new HistoryRing();
  ring.add({ atSeconds: NOW, cpuCores: 1 });
  assert.deepEqual(ring.points(NOW - 60), []);
  assert.deepEqual(ring.points(NOW + HISTORY_SECONDS), []);
  const nonsense = new HistoryRing(Buffer.alloc(RING_BYTES, 0xa5)).points(0xa5a5a5a5);
  assert.ok(nonsense.length <= 1 && Object.values(nonsense[0] ?? {}).every((value) => value >= 0));
  assert.deepEqual(new HistoryRing(Buffer.alloc(7, 1)).points(NOW), []);
});

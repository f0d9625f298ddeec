import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { isWorthCollecting, LOOK_MS, runMemoryRelease } from './release-memory.ts';

test('a heap is collected when it has grown and nothing is being done', () => {
  const MIB = 2 ** 20;
  const seen = { cpuMs: 20, heapBytes: 149 * MIB, collectedBytes: 100 * MIB };
  const cases = [
    seen,
    { ...seen, heapBytes: 40 * MIB, collectedBytes: 0 }, // never yet
    { ...seen, heapBytes: 148 * MIB },
    { ...seen, cpuMs: 500 },
  ];
  assert.deepEqual(cases.map(isWorthCollecting), [true, true, false, false]);
});

test('what nobody holds is given back a while after the start', async () => {
  const clock = new FakeClock();
  const end = new AbortController();
  const running = runMemoryRelease({ clock, signal: end.signal });
  const gone = new WeakRef({});
  clock.advance(LOOK_MS - 1);
  await new Promise(setImmediate);
  assert.ok(gone.deref(), 'not before');
  await new Promise(setImmediate); // what a WeakRef has shown lives to the end of the turn
  clock.advance(1);
  await new Promise(setImmediate);
  assert.equal(gone.deref(), undefined);
  end.abort();
  clock.advance(LOOK_MS);
  await running;
});

test('a cluster that ends before does not wait for it', async () => {
  await runMemoryRelease({ clock: new FakeClock(), signal: AbortSignal.abort() });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { releaseMemoryAfterStart } from './release-memory.ts';

test('what nobody holds is given back a while after the start', async () => {
  const clock = new FakeClock();
  const released = releaseMemoryAfterStart(clock, new AbortController().signal);
  const gone = new WeakRef({});
  clock.advance(9_999);
  await new Promise(setImmediate);
  assert.ok(gone.deref(), 'not before');
  await new Promise(setImmediate); // what a WeakRef has shown lives to the end of the turn
  clock.advance(1);
  await released;
  assert.equal(gone.deref(), undefined);
});

test('a cluster that ends before does not wait for it', async () => {
  await releaseMemoryAfterStart(new FakeClock(), AbortSignal.abort());
});

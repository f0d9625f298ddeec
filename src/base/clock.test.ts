import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LONGEST_TIMER_MS, systemClock } from './clock.ts';
import { timeoutSignal } from './timeout-signal.ts';

/** The milliseconds of each timer that was set, which fires when it is told to. */
function timers(t: TestContext) {
  const set: { readonly ms: number; readonly fire: () => void }[] = [];
  t.mock.method(globalThis, 'setTimeout', (fire: () => void, ms: number) => {
    set.push({ ms, fire });
    return set.length;
  });
  return set;
}

test('a sleep that is longer than a timer is made of several', async (t) => {
  const set = timers(t);
  const slept = systemClock.sleep(2 * LONGEST_TIMER_MS + 5);
  for (let at = 0; at < 3; at += 1) set[at]?.fire();
  await slept;
  assert.deepEqual(
    set.map(({ ms }) => ms),
    [LONGEST_TIMER_MS, LONGEST_TIMER_MS, 5],
  );
});

test('a sleep without end ends with its signal', async (t) => {
  const set = timers(t);
  const stop = new AbortController();
  const slept = systemClock.sleep(Number.POSITIVE_INFINITY, stop.signal);
  for (let at = 0; at < 4; at += 1) set[at]?.fire();
  stop.abort();
  await slept;
  assert.deepEqual(new Set(set.map(({ ms }) => ms)), new Set([LONGEST_TIMER_MS]));
});

test('no number of milliseconds is too large or too small for a signal', (t) => {
  const asked: number[] = [];
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    asked.push(ms);
    return new AbortController().signal;
  });
  for (const ms of [5e12, 2 ** 32, Number.POSITIVE_INFINITY, 1.5, 0, -1, Number.NaN]) timeoutSignal(ms);
  assert.deepEqual(asked, [LONGEST_TIMER_MS, LONGEST_TIMER_MS, LONGEST_TIMER_MS, 2, 0, 0, 0]);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Backoff } from '../base/backoff.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { quiet } from '../testing/until.ts';
import { KeyedQueue } from './queue.ts';

/** A queue whose `take` is drained into `taken` as keys come up, so that tests can look instead of wait. */
function queueIn(t: TestContext, backoff?: Backoff) {
  const clock = new FakeClock();
  const stop = new AbortController();
  t.after(() => stop.abort());
  const queue = new KeyedQueue({ clock, signal: stop.signal, backoff });
  const taken: (string | undefined)[] = [];
  const takeOne = () => void queue.take().then((key) => taken.push(key));
  return { clock, stop, queue, taken, takeOne };
}

test('a key added twice is taken once', async (t) => {
  const { queue, taken, takeOne } = queueIn(t);
  queue.add('a');
  queue.add('a');
  queue.add('b');
  for (let i = 0; i < 3; i++) takeOne();
  await quiet();
  assert.deepEqual(taken, ['a', 'b']);
});

test('a key is with one worker at a time, and comes again when it was added meanwhile', async (t) => {
  const { queue, taken, takeOne } = queueIn(t);
  queue.add('a');
  takeOne();
  takeOne();
  queue.add('a');
  queue.add('a');
  await quiet();
  assert.deepEqual(taken, ['a']);
  queue.done('a');
  await quiet();
  assert.deepEqual(taken, ['a', 'a']);
  queue.done('a');
  takeOne();
  await quiet();
  assert.deepEqual(taken, ['a', 'a']);
});

test('a delayed key comes at its time; the earliest of several wishes counts', async (t) => {
  const { clock, queue, taken, takeOne } = queueIn(t);
  takeOne();
  takeOne();
  queue.addAfter('a', 1_000);
  queue.addAfter('a', 500);
  queue.addAfter('a', 2_000);
  clock.advance(499);
  await quiet();
  assert.deepEqual(taken, []);
  clock.advance(1);
  await quiet();
  queue.done('a');
  clock.advance(10_000);
  await quiet();
  assert.deepEqual(taken, ['a']);
});

test('taking a key cancels its timer, so that timers do not pile up', async (t) => {
  const { clock, queue, taken, takeOne } = queueIn(t);
  queue.addAfter('a', 1_000);
  queue.add('a');
  takeOne();
  takeOne();
  await quiet();
  queue.done('a');
  clock.advance(1_000);
  await quiet();
  assert.deepEqual(taken, ['a']);
});

test('failures double the wait up to the cap; success starts over', async (t) => {
  const { clock, queue, taken, takeOne } = queueIn(t, { firstMs: 10, capMs: 40 });
  for (const waitMs of [10, 20, 40, 40, 'forget', 10] as const) {
    if (waitMs === 'forget') {
      queue.forget('a');
      continue;
    }
    takeOne();
    queue.retry('a');
    clock.advance(waitMs - 1);
    await quiet();
    assert.deepEqual(taken, []);
    clock.advance(1);
    await quiet();
    assert.deepEqual(taken.splice(0), ['a']);
    queue.done('a');
  }
});

test('an abort sends every worker home', async (t) => {
  const { stop, queue, taken, takeOne } = queueIn(t);
  takeOne();
  takeOne();
  stop.abort();
  await quiet();
  assert.deepEqual(taken, [undefined, undefined]);
  assert.equal(await queue.take(), undefined);
});

test('of keys that are ready the one of the highest rank is taken first, and of one rank the first that came', async () => {
  const stop = new AbortController();
  const queue = new KeyedQueue({ clock: new FakeClock(), signal: stop.signal, rankOf: (key) => Number(key.slice(1)) });
  for (const key of ['a0', 'b5', 'c0', 'd9', 'e5', 'b5']) queue.add(key);
  const taken = [];
  for (let i = 0; i < 5; i++) taken.push(await queue.take());
  stop.abort();
  assert.deepEqual(taken, ['d9', 'b5', 'e5', 'a0', 'c0']);
});

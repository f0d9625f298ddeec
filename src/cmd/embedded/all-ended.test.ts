import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../base/log.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { allEnded } from './all-ended.ts';

function world() {
  const clock = new FakeClock();
  const lines: string[] = [];
  const stop = new AbortController();
  const log = createLogger({ write: (line) => lines.push(line), level: 'info', now: () => clock.now() });
  return { clock, lines, stop, options: { signal: stop.signal, clock, log } };
}

test('everything that ends in time is waited for', async () => {
  const { stop, lines, options } = world();
  const ended = allEnded({ a: Promise.resolve(), b: new Promise((resolve) => stop.signal.addEventListener('abort', resolve)) }, options);
  stop.abort();
  await ended;
  assert.deepEqual(lines, []);
});

test('a part that hangs is named and left behind', async () => {
  const { clock, stop, lines, options } = world();
  const ended = allEnded({ good: Promise.resolve(), hung: new Promise(() => {}) }, options);
  stop.abort();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5_000);
  await ended;
  assert.deepEqual(JSON.parse(lines[0] ?? '{}').parts, ['hung']);
});

test('a part that fails while everything should run is told at once', async () => {
  await assert.rejects(allEnded({ bad: Promise.reject(new Error('broken')), good: new Promise(() => {}) }, world().options), /broken/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricFamilies } from '../base/metrics.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { KeyedQueue } from './queue.ts';
import { QueueFigures } from './queue-figures.ts';

test('what waits, came in and was tried again is shown by controller; a key that waits already came in once', async () => {
  const [metrics, stop] = [new MetricFamilies(), new AbortController()];
  const figures = new QueueFigures('vm-controller');
  const queue = new KeyedQueue({ clock: new FakeClock(), signal: stop.signal, onEvent: figures.observe });
  figures.addTo(metrics, { queue, signal: stop.signal });
  const shown = async () => Promise.all(metrics.all().map(async ({ samples }) => (await samples())[0]));
  for (const key of ['a', 'b', 'a']) queue.add(key);
  const labels = { name: 'vm-controller' };
  const expected = (...values: number[]) => values.map((value) => ({ labels, value }));
  assert.deepEqual(await shown(), expected(2, 2, 0));
  const key = (await queue.take()) ?? '';
  queue.add(key); // while somebody works on it
  queue.add(key);
  queue.retry(key);
  assert.deepEqual(await shown(), expected(3, 1, 1));
  stop.abort();
  assert.deepEqual(metrics.all(), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricCounter, MetricFamilies, MetricHistogram } from './metrics.ts';

test('two that share a process and a family are shown as one, until one of them ends', async () => {
  const metrics = new MetricFamilies();
  const ended = new AbortController();
  metrics.gauge('b', 'B.', () => 1);
  metrics.gauge('a', 'A.', () => 2, ended.signal);
  metrics.gauge('a', 'A.', () => 3);
  const shown = async () => Promise.all(metrics.all().map(async ({ name, samples }) => [name, await samples()]));
  assert.deepEqual(await shown(), [
    ['a', [{ value: 5 }]],
    ['b', [{ value: 1 }]],
  ]);
  ended.abort();
  metrics.gauge('c', 'C.', () => 4, ended.signal);
  assert.deepEqual(await shown(), [
    ['a', [{ value: 3 }]],
    ['b', [{ value: 1 }]],
  ]);
});

test('of a family that two share, samples with the same labels are one, whatever their order', async () => {
  const metrics = new MetricFamilies();
  const family = (labels: Record<string, string>, value: number) =>
    metrics.add({ name: 'a', help: 'A.', type: 'counter', samples: () => [{ labels, value }] });
  family({ x: '1', y: '2' }, 1);
  family({ y: '2', x: '1' }, 2);
  family({ x: '1', y: '3' }, 4);
  const [shared] = metrics.all();
  assert.deepEqual(await shared?.samples(), [
    { labels: { x: '1', y: '2' }, value: 3 },
    { labels: { x: '1', y: '3' }, value: 4 },
  ]);
});

test('a histogram counts what is no larger than each bound', () => {
  const histogram = new MetricHistogram({ name: 'h', help: 'H.', bounds: [1, 5] });
  for (const value of [0.5, 1, 3, 9]) histogram.observe({ phase: 'Running' }, value);
  assert.deepEqual(
    histogram.samples().map(({ suffix, labels, value }) => [suffix, labels?.['le'], value]),
    [
      ['_bucket', '1', 2],
      ['_bucket', '5', 3],
      ['_bucket', '+Inf', 4],
      ['_sum', undefined, 13.5],
      ['_count', undefined, 4],
    ],
  );
});

test('a counter forgets what it counted first, before it grows without end', () => {
  const counter = new MetricCounter({ name: 'c', help: 'C.' });
  for (let index = 0; index <= 10_000; index++) counter.add({ index: String(index) });
  const samples = counter.samples();
  assert.deepEqual([samples.length, samples[0]?.labels], [10_000, { index: '1' }]);
});

test('a counter counts by its labels', () => {
  const counter = new MetricCounter({ name: 'c', help: 'C.' });
  counter.add({ code: '200' });
  counter.add({ code: '500' }, 2);
  counter.add({ code: '200' });
  assert.deepEqual(counter.samples(), [
    { labels: { code: '200' }, value: 2 },
    { labels: { code: '500' }, value: 2 },
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricFamilies, MetricHistogram } from '../metrics.ts';
import { addProcessMetrics, renderMetrics } from './metrics-page.ts';

test('families are written as Prometheus reads them, whatever their labels hold', async () => {
  const metrics = new MetricFamilies();
  const labels = { name: 'a"b\\c\nd', empty: '' };
  metrics.add({ name: 'x_total', help: 'Lines\nand \\.', type: 'counter', samples: async () => [{ labels, value: 1e21 }] });
  const histogram = new MetricHistogram({ name: 'h_seconds', help: 'H.', bounds: [1] });
  histogram.observe({}, 2);
  metrics.add(histogram);
  const { text, contentType } = await renderMetrics(metrics);
  assert.match(contentType, /^text\/plain; version=0.0.4/);
  assert.equal(
    text,
    [
      '# HELP h_seconds H.',
      '# TYPE h_seconds histogram',
      'h_seconds_bucket{le="1"} 0',
      'h_seconds_bucket{le="+Inf"} 1',
      'h_seconds_sum 2',
      'h_seconds_count 1',
      '',
      '# HELP x_total Lines\\nand \\\\.',
      '# TYPE x_total counter',
      'x_total{name="a\\"b\\\\c\\nd",empty=""} 1e+21',
      '',
    ].join('\n'),
  );
});

test('a label that somebody made long is cut, and a family that has too much is, too', async () => {
  const metrics = new MetricFamilies();
  metrics.add({ name: 'long', help: 'L.', type: 'gauge', samples: () => [{ labels: { os: 'x'.repeat(100_000) }, value: 1 }] });
  metrics.add({ name: 'many', help: 'M.', type: 'gauge', samples: () => Array.from({ length: 20_001 }, (_, value) => ({ value })) });
  const { text } = await renderMetrics(metrics);
  assert.match(text, /^long\{os="x{512}"\} 1$/m);
  assert.equal(text.match(/^many /gm)?.length, 20_000);
});

test('every component tells its version and what its process uses', async () => {
  const metrics = new MetricFamilies();
  addProcessMetrics(metrics, { version: '1.2.3' });
  const { text } = await renderMetrics(metrics);
  assert.match(text, /^kubevirt_info\{goversion="",kubeversion="1\.2\.3"\} 1$/m);
  for (const name of ['process_resident_memory_bytes', 'process_start_time_seconds', 'process_cpu_seconds_total'])
    assert.match(text, new RegExp(`^${name} [0-9.]+$`, 'm'));
});

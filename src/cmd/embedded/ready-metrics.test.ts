import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricFamilies } from '../../base/metrics.ts';
import { addReadyMetrics } from './ready-metrics.ts';

test('each component says whether it works, until the cluster ends', async () => {
  const [metrics, stop] = [new MetricFamilies(), new AbortController()];
  let isReady = true;
  addReadyMetrics(metrics, { isApiReady: () => isReady, areHandlersReady: () => !isReady, signal: stop.signal });
  const shown = async () => Promise.all(metrics.all().map(async ({ name, samples }) => [name, (await samples())[0]?.value]));
  const expected = (api: number) => [
    ['kubevirt_virt_api_ready_status', api],
    ['kubevirt_virt_controller_leading_status', 1],
    ['kubevirt_virt_controller_ready_status', 1],
    ['kubevirt_virt_handler_ready_status', 1 - api],
  ];
  assert.deepEqual(await shown(), expected(1));
  isReady = false;
  assert.deepEqual(await shown(), expected(0));
  stop.abort();
  assert.deepEqual(metrics.all(), []);
});

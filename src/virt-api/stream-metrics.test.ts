import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricFamilies } from '../base/metrics.ts';
import { addStreamMetrics } from './stream-metrics.ts';

test('streams of all callers to one machine are counted together, by what they are', async () => {
  const metrics = new MetricFamilies();
  const at = (subresource: string, name: string) =>
    ({ resource: 'virtualmachineinstances', verb: 'get', namespace: 'default', subresource, name }) as const;
  const open = [
    { attributes: at('console', 'db'), count: 2 },
    { attributes: at('console', 'db'), count: 1 },
    { attributes: at('portforward', 'web'), count: 1 },
  ];
  addStreamMetrics(metrics, { open: () => open }, new AbortController().signal);
  const shown = await Promise.all(metrics.all().map(async ({ name, samples }) => [name, await samples()]));
  assert.deepEqual(shown, [
    ['kubevirt_console_active_connections', [{ labels: { namespace: 'default', vmi: 'db' }, value: 3 }]],
    ['kubevirt_portforward_active_tunnels', [{ labels: { namespace: 'default', vmi: 'web' }, value: 1 }]],
    ['kubevirt_vnc_active_connections', []],
  ]);
});

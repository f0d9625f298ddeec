import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricFamilies } from '../../../base/metrics.ts';
import { startTestServer } from '../test-server.testing.ts';

const PROMETHEUS = { user: 'prometheus', groups: ['system:monitoring', 'system:authenticated'] };

test('/metrics is shown to whoever may get the path: monitors and administrators', async (t) => {
  const { fetch, close } = await startTestServer({ hooks: { metricFamilies: new MetricFamilies() } });
  t.after(close);
  const codes = await Promise.all([
    fetch('/metrics', {}, PROMETHEUS),
    fetch('/metrics'),
    fetch('/metrics', {}, { user: 'eve', groups: ['system:authenticated'] }),
    fetch('/metrics/other'),
    fetch('/metrics', { method: 'POST' }),
  ]);
  assert.deepEqual(
    codes.map(({ status }) => status),
    [200, 200, 403, 404, 405],
  );
});

test('answers are counted by resource, and names of what is not there make no series', async (t) => {
  const { fetch, close } = await startTestServer({ hooks: { metricFamilies: new MetricFamilies() } });
  t.after(close);
  await fetch('/api/v1/namespaces/default/configmaps');
  for (const made of ['a', 'b', 'c']) await fetch(`/apis/${made}/v1/${made}`);
  const text = await (await fetch('/metrics', {}, PROMETHEUS)).text();
  assert.match(text, /^apiserver_request_total\{verb="LIST",group="",resource="configmaps",subresource="",code="200"\} 1$/m);
  assert.match(text, /^apiserver_request_total\{verb="",group="",resource="",subresource="",code="404"\} 3$/m);
});

test('a server that nobody reads metrics of has no such path', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  assert.equal((await fetch('/metrics')).status, 404);
});

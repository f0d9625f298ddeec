/** /metrics of a component, with the tokens and roles of a real API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVICE_ACCOUNTS } from '../../api/core/service-account.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { MetricFamilies } from '../../base/metrics.ts';
import { httpsFetch, keepAliveAgent } from '../../base/node/https-fetch.ts';
import { newSigningKey } from '../../base/node/signing-key.ts';
import { grant } from '../../control-plane/apiserver/access/rights.testing.ts';
import { startTestServer } from '../../control-plane/apiserver/test-server.testing.ts';
import { startMetricsServer } from './metrics-server.ts';

test('metrics are for tokens that may get /metrics, and for nobody else', async (t) => {
  const api = await startTestServer({ signingKey: newSigningKey() });
  t.after(api.close);
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
  await grant(api.client, { rules, subject: { kind: 'ServiceAccount', name: 'prometheus', namespace: 'default' } });
  const tokens = await Promise.all(['prometheus', 'other'].map((name) => tokenOf(api, name)));

  const metrics = new MetricFamilies();
  metrics.gauge('kubevirt_virt_handler_ready_status', 'Whether it works.', () => 1);
  const options = {
    component: 'virt-handler',
    metrics,
    client: api.client,
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: silentLogger,
  };
  const server = await startMetricsServer(options);
  const agent = keepAliveAgent();
  t.after(() => {
    agent.destroy();
    return server.close();
  });
  const ask = (path: string, init?: RequestInit) =>
    httpsFetch(new Request(`https://127.0.0.1:${server.port}${path}`, init), { agent, rejectUnauthorized: false });
  const asking = (token: string | undefined) => ({ headers: { authorization: `Bearer ${token}` } });

  const allowed = await ask('/metrics', asking(tokens[0]));
  assert.deepEqual([allowed.status, /^kubevirt_virt_handler_ready_status 1$/m.test(await allowed.text())], [200, true]);
  assert.equal((await ask('/metrics', asking(tokens[0]))).status, 200);
  for (const [code, init] of [
    [403, asking(tokens[1])],
    [401, asking('nonsense')],
    [401, {}],
    [401, { headers: { authorization: 'Basic eDp4' } }],
    [405, { method: 'POST', ...asking(tokens[0]) }],
  ] as const)
    assert.equal((await ask('/metrics', init)).status, code);
  assert.equal((await ask('/', asking(tokens[0]))).status, 404);
});

async function tokenOf(api: Awaited<ReturnType<typeof startTestServer>>, name: string): Promise<string> {
  const metadata = { name, namespace: 'default' };
  await api.client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
  const answer = await api.fetch(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  return ((await answer.json()) as { status: { token: string } }).status.token;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPLOYMENTS, type Deployment } from '../../api/core/deployment.ts';
import { PODS } from '../../api/core/pod.ts';
import { POD_DISRUPTION_BUDGETS, type PodDisruptionBudget } from '../../api/core/pod-disruption-budget.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { until } from '../../testing/until.ts';
import { startTestServer } from '../apiserver/test-server.testing.ts';
import { startFakeKubelet } from './fake-kubelet.testing.ts';
import { runWorkloads, WORKLOAD_READER } from './run.ts';

const AT = { namespace: 'default', name: 'web' };
const labels = { app: 'web' };
const deployment: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: AT,
  spec: {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nothing:1' }] } },
  },
};
const budget: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: AT,
  spec: { selector: { matchLabels: labels }, maxUnavailable: 1 },
};

test('evictions are held to the budget of a Deployment: one at a time, each when the last has been replaced', async (t) => {
  const { client, clientAs, fetch, close } = await startTestServer();
  const stop = new AbortController();
  const rest = { clock: systemClock, log: silentLogger, signal: stop.signal };
  const as = (name: string) => ({ ...rest, client: clientAs(`system:serviceaccount:kube-system:${name}`) });
  const kubelet = await startFakeKubelet({ client, now: Date.now, signal: stop.signal });
  const running = Promise.all([runWorkloads({ reader: { ...rest, client: clientAs(WORKLOAD_READER) }, as }), kubelet.stopped]);
  t.after(async () => {
    stop.abort();
    await running;
    close();
  });
  const status = async () => (await client.get(POD_DISRUPTION_BUDGETS, AT))?.status;
  const evict = async (name: string, query = '') => {
    const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } });
    const answer = await fetch(`/api/v1/namespaces/default/pods/${name}/eviction${query}`, { method: 'POST', body });
    return { code: answer.status, said: (await answer.json()) as { details?: { causes?: { reason: string }[] } } };
  };
  const names = async () => (await client.list(PODS, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
  await client.create(DEPLOYMENTS, deployment);
  await client.create(POD_DISRUPTION_BUDGETS, budget);
  await until(async () => (await status())?.disruptionsAllowed === 1, 'three Pods to be healthy');

  kubelet.behave(() => 'unready'); // so that nothing replaces whoever goes
  const [first = '', second = ''] = await names();
  assert.equal((await evict(first, '?dryRun=All')).code, 201);
  const both = await Promise.all([evict(first), evict(second)]);
  assert.deepEqual(both.map(({ code }) => code).sort(), [201, 429]);
  assert.equal(both.find(({ code }) => code === 429)?.said.details?.causes?.[0]?.reason, 'DisruptionBudget');
  const left = both[0]?.code === 429 ? first : second;
  await until(async () => (await status())?.currentHealthy === 2 && (await names()).length === 3, 'the Pod to be replaced');
  assert.equal((await status())?.disruptionsAllowed, 0);
  assert.equal((await evict(left)).code, 429);

  await client.patch(DEPLOYMENTS, AT, { spec: { replicas: 2 } });
  await until(async () => (await status())?.disruptionsAllowed === 1, 'fewer Pods to be wanted');
  assert.equal((await evict(left)).code, 201);

  const table = await fetch('/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  });
  const { columnDefinitions, rows } = (await table.json()) as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] };
  assert.deepEqual(
    columnDefinitions.map(({ name }) => name),
    ['Name', 'Min Available', 'Max Unavailable', 'Allowed Disruptions', 'Age'],
  );
  assert.deepEqual(rows[0]?.cells.slice(0, 3), ['web', 'N/A', '1']);
});

test('a budget that contradicts itself is refused', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const spec = { minAvailable: '101%', maxUnavailable: -1, unhealthyPodEvictionPolicy: 'Never' };
  await assert.rejects(client.create(POD_DISRUPTION_BUDGETS, { ...budget, spec: spec as never }), (error: Error) => {
    for (const each of [/must not be greater than 100%/, /greater than or equal to 0/, /cannot be both set/, /"Never"/])
      assert.match(error.message, each);
    return true;
  });
});

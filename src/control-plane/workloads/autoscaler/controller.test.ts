import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DEPLOYMENTS } from '../../../api/core/deployment.ts';
import { HORIZONTAL_POD_AUTOSCALERS, type HorizontalPodAutoscaler } from '../../../api/core/horizontal-pod-autoscaler.ts';
import { PODS } from '../../../api/core/pod.ts';
import { silentLogger } from '../../../base/log.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { until } from '../../../testing/until.ts';
import { startTestServer } from '../../apiserver/test-server.testing.ts';
import { labels } from '../builders.testing.ts';
import { startWorkloadCaches } from '../caches.ts';
import { WORKLOAD_READER } from '../run.ts';
import { runAutoscalers } from './controller.ts';

const AT = { namespace: 'default', name: 'web' };
const V1 = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
const v1 = (spec: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    maxReplicas: 5,
    targetCPUUtilizationPercentage: 50,
    ...spec,
  },
});
const post = (body: object) => ({ method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

/** A Deployment of one Pod that asks for a core and uses as many as the test says; the controller has nothing but the rights of its role. */
async function start(t: TestContext) {
  const clock = new FakeClock();
  let cores = 1;
  const metrics = async () => {
    const containers = [{ name: 'main', usage: { cpu: String(cores), memory: '1Mi' } }];
    const of = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics', metadata: { name: 'p', namespace: 'default', labels } };
    return { nodes: [], pods: [{ ...of, timestamp: timestamp(clock.now()), window: '15s', containers }] };
  };
  const server = await startTestServer({ clock, hooks: { metrics } });
  const { client } = server;
  const containers = [{ name: 'main', image: 'nothing:1', resources: { requests: { cpu: '1' } } }];
  const template = { metadata: { labels }, spec: { containers } };
  await client.create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: AT,
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
  await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { ...AT, name: 'p', labels }, spec: { containers } });
  const startTime = timestamp(clock.now() - 3_600_000);
  const conditions = [{ type: 'Ready', status: 'True' as const, lastTransitionTime: startTime }];
  await client.patch(PODS, { ...AT, name: 'p' }, { status: { phase: 'Running', startTime, conditions } }, { subresource: 'status' });
  const stop = new AbortController();
  const rest = { clock, log: silentLogger, signal: stop.signal };
  const caches = startWorkloadCaches({ ...rest, client: server.clientAs(WORKLOAD_READER) });
  const as = server.clientAs('system:serviceaccount:kube-system:horizontal-pod-autoscaler', ['system:serviceaccounts']);
  const running = runAutoscalers({ ...rest, client: as, ...caches });
  t.after(async () => {
    stop.abort();
    await running;
    server.close();
  });
  return {
    client,
    server,
    use: (next: number) => {
      cores = next;
    },
    /** Time goes by until this is so. */
    async when(condition: () => Promise<boolean>, what: string) {
      await until(async () => {
        if (await condition()) return true;
        clock.advance(1000);
        return false;
      }, what);
    },
    replicas: async () => (await client.get(DEPLOYMENTS, AT))?.spec.replicas,
  };
}

test('an autoscaler of v1 scales a Deployment up by what its Pod uses, and down when it has used less for five minutes', async (t) => {
  const { server, client, use, when, replicas } = await start(t);
  assert.equal((await server.fetch(V1, post(v1()))).status, 201);
  await when(async () => (await replicas()) === 2, 'twice as many');
  use(0.1);
  await when(async () => (await replicas()) === 1, 'fewer again');
  const shown = (await (await server.fetch(`${V1}/web`)).json()) as { spec: object; status: object };
  assert.deepEqual(shown.spec, { ...v1().spec, minReplicas: 1 });
  const { spec, status } = (await client.get(HORIZONTAL_POD_AUTOSCALERS, AT)) as HorizontalPodAutoscaler;
  assert.deepEqual(spec.metrics, [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ]);
  assert.equal(status?.conditions?.find(({ type }) => type === 'ScalingActive')?.reason, 'ValidMetricFound');
});

test('a target of a kind that cannot be scaled is said, and nothing is done', async (t) => {
  const { server, client, when } = await start(t);
  await server.fetch(V1, post(v1({ scaleTargetRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'web' } })));
  const able = async () =>
    (await client.get(HORIZONTAL_POD_AUTOSCALERS, AT))?.status?.conditions?.find(({ type }) => type === 'AbleToScale');
  await when(async () => (await able())?.status === 'False', 'the condition');
  assert.match((await able())?.message ?? '', /no kind ConfigMap of v1 has a scale/);
});

test('a target that would lead elsewhere is refused in both versions', async (t) => {
  const { server } = await start(t);
  const v2 = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } };
  for (const name of ['../../other/deployments/web', '..', '.', 'web%2f', 'a/b'])
    for (const scaleTargetRef of [
      { apiVersion: 'apps/v1', kind: 'Deployment', name },
      { apiVersion: 'apps/v1', kind: name, name: 'web' },
    ]) {
      const answers = await Promise.all([
        server.fetch(V1, post(v1({ scaleTargetRef }))),
        server.fetch(V1.replace('/v1/', '/v2/'), post({ ...v2, spec: { scaleTargetRef, maxReplicas: 5 } })),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [422, 422],
        JSON.stringify(scaleTargetRef),
      );
    }
});

test('what v1 cannot mean is refused with its fields, and v1 changes nothing', async (t) => {
  const { server } = await start(t);
  for (const [spec, field] of [
    [{ maxReplicas: 'many' }, 'spec.maxReplicas'],
    [{ minReplicas: 9 }, 'spec.maxReplicas'],
    [{ scaleTargetRef: { kind: 'Deployment' } }, 'spec.scaleTargetRef.name'],
    [{ targetCPUUtilizationPercentage: -1 }, 'spec.targetCPUUtilizationPercentage'],
  ] as const) {
    const refused = await server.fetch(V1, post(v1(spec)));
    const { message } = (await refused.json()) as { message: string };
    assert.equal(refused.status, 422);
    assert.ok(message.includes(field), message);
  }
  await server.fetch(V1, post(v1()));
  const patch = { method: 'PATCH', body: '{}', headers: { 'content-type': 'application/merge-patch+json' } };
  assert.equal((await server.fetch(`${V1}/web`, patch)).status, 405);
});

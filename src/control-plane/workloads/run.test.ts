import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CONTROLLER_REVISIONS } from '../../api/core/controller-revision.ts';
import { DAEMON_SETS, type DaemonSet } from '../../api/core/daemon-set.ts';
import { DEPLOYMENTS, type Deployment } from '../../api/core/deployment.ts';
import { JOBS, type Job } from '../../api/core/job.ts';
import { NODES } from '../../api/core/node.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { REPLICA_SETS } from '../../api/core/replica-set.ts';
import { STATEFUL_SETS, type StatefulSet } from '../../api/core/stateful-set.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import { conditionOf, type ObjectMeta } from '../../api/meta.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { until } from '../../testing/until.ts';
import { startTestServer } from '../apiserver/test-server.testing.ts';
import { runGarbageCollector } from '../garbage-collector/controller.ts';
import { startFakeKubelet } from './fake-kubelet.testing.ts';
import { runWorkloads, WORKLOAD_READER } from './run.ts';

/** Every controller with nothing but the rights of its role, on a real API server, and a node that runs nothing for real. */
async function start(t: TestContext, nodes: readonly string[] = ['n1']) {
  const { client, clientAs, close } = await startTestServer();
  const stop = new AbortController();
  const rest = { clock: systemClock, log: silentLogger, signal: stop.signal };
  const account = (name: string) => ({ ...rest, client: clientAs(`system:serviceaccount:kube-system:${name}`) });
  const kubelet = await startFakeKubelet({ client, nodes, now: Date.now, signal: stop.signal });
  const running = Promise.all([
    runWorkloads({ reader: { ...rest, client: clientAs(WORKLOAD_READER) }, as: account }),
    runGarbageCollector(account('generic-garbage-collector')),
    kubelet.stopped,
  ]);
  t.after(async () => {
    stop.abort();
    await running;
    close();
  });
  const list = async (): Promise<readonly Pod[]> => (await client.list(PODS, { namespace: 'default' })).items;
  return { client, kubelet, list, at: (name: string) => ({ namespace: 'default', name }) };
}

function deployment(spec: Partial<Deployment['spec']> = {}, metadata: Partial<ObjectMeta> = {}): Deployment {
  const labels = { app: 'web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default', ...metadata },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nothing:1' }] } },
      ...spec,
    },
  };
}

const image = (to: string) => ({ spec: { template: { spec: { containers: [{ name: 'main', image: to }] } } } });

test('a Deployment makes Pods, rolls out a new template, goes back, is scaled, and takes everything with it', async (t) => {
  const { client, list, at } = await start(t);
  await client.create(DEPLOYMENTS, deployment());
  const isDone = async () => {
    const { metadata, spec, status } = (await client.get(DEPLOYMENTS, at('web'))) ?? deployment();
    const wanted = spec.replicas;
    return (
      status?.observedGeneration === metadata.generation &&
      (status?.updatedReplicas ?? 0) === wanted &&
      (status?.replicas ?? 0) === wanted &&
      (status?.availableReplicas ?? 0) === wanted
    );
  };
  const images = async () => [...new Set((await list()).map(({ spec }) => spec.containers[0]?.image))];
  await until(isDone, 'the first rollout');
  assert.equal((await list()).length, 3);
  await client.patch(DEPLOYMENTS, at('web'), image('nothing:2'));
  await until(isDone, 'the second rollout');
  await until(async () => (await list()).length === 3, 'the old Pods to go');
  assert.deepEqual(await images(), ['nothing:2']);
  const current = await client.get(DEPLOYMENTS, at('web'));
  assert.equal(current?.metadata.annotations?.['deployment.kubernetes.io/revision'], '2');
  assert.equal(conditionOf(current?.status?.conditions, 'Progressing')?.reason, 'NewReplicaSetAvailable');
  assert.equal(conditionOf(current?.status?.conditions, 'Available')?.status, 'True');
  await client.patch(DEPLOYMENTS, at('web'), image('nothing:1'));
  await until(isDone, 'the way back');
  const sets = (await client.list(REPLICA_SETS)).items;
  const shown = sets.map(({ metadata, spec }) => [metadata.annotations?.['deployment.kubernetes.io/revision'], spec.replicas]);
  assert.deepEqual(shown.sort(), [
    ['2', 0],
    ['3', 3],
  ]);
  await client.patch(DEPLOYMENTS, at('web'), { spec: { replicas: 0 } });
  await until(async () => (await list()).length === 0, 'no Pods');
  await client.patch(DEPLOYMENTS, at('web'), { spec: { replicas: 2 } });
  await until(async () => (await list()).length === 2, 'two Pods');
  await client.delete(DEPLOYMENTS, at('web'));
  await until(async () => (await list()).length === 0 && (await client.list(REPLICA_SETS)).items.length === 0, 'everything to go');
});

test('Recreate makes no new Pod while an old one is there, and only so many old revisions are kept', async (t) => {
  const { client, list, at } = await start(t);
  await client.create(DEPLOYMENTS, deployment({ strategy: { type: 'Recreate' }, revisionHistoryLimit: 1 }));
  const isReady = async (of: string) => {
    const pods = await list();
    const images = new Set(pods.map(({ spec }) => spec.containers[0]?.image));
    assert.ok(images.size <= 1, `both at once: ${[...images].join(' ')}`);
    return images.has(of) && (await client.get(DEPLOYMENTS, at('web')))?.status?.availableReplicas === 3;
  };
  for (const each of ['nothing:1', 'nothing:2', 'nothing:3', 'nothing:4']) {
    await client.patch(DEPLOYMENTS, at('web'), image(each));
    await until(() => isReady(each), each);
  }
  await until(async () => (await client.list(REPLICA_SETS)).items.length === 2, 'old revisions to go');
});

test('a DaemonSet has a Pod on every node that takes it, rolls out node by node, and follows the nodes', async (t) => {
  const { client, list, at } = await start(t, ['n1', 'n2', 'n3']);
  const { selector, template } = deployment().spec;
  const set: DaemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector, template },
  };
  await client.create(DAEMON_SETS, set);
  const isDone = async (nodes: number) => {
    const { metadata, status } = (await client.get(DAEMON_SETS, at('web'))) ?? set;
    const said = [status?.desiredNumberScheduled, status?.updatedNumberScheduled, status?.numberAvailable];
    return status?.observedGeneration === metadata.generation && said.every((n) => n === nodes) && (await list()).length === nodes;
  };
  const places = async () => (await list()).map(({ spec }) => `${spec.nodeName} ${spec.containers[0]?.image}`).sort();
  await until(() => isDone(3), 'one Pod on each');
  assert.deepEqual(await places(), ['n1 nothing:1', 'n2 nothing:1', 'n3 nothing:1']);
  await client.patch(DAEMON_SETS, at('web'), image('nothing:2'));
  await until(() => isDone(3), 'the new template');
  assert.deepEqual(await places(), ['n1 nothing:2', 'n2 nothing:2', 'n3 nothing:2']);
  assert.deepEqual((await client.list(CONTROLLER_REVISIONS)).items.map(({ revision }) => revision).sort(), [1, 2]);
  await client.patch(NODES, { name: 'n2' }, { spec: { unschedulable: true, taints: [{ key: 'broken', effect: 'NoExecute' }] } });
  await until(() => isDone(2), 'the tainted node to be left');
  await client.patch(NODES, { name: 'n2' }, { spec: { taints: null } });
  await until(() => isDone(3), 'the cordoned node to be used again: daemons put up with that');
  await client.delete(NODES, { name: 'n3' });
  await until(() => isDone(2), 'the node that is gone');
  await client.delete(DAEMON_SETS, at('web'));
  await until(async () => (await list()).length === 0 && (await client.list(CONTROLLER_REVISIONS)).items.length === 0, 'everything to go');
});

function job(spec: Partial<Job['spec']>, name = 'work'): Job {
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'nothing:1' }] } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'default' }, spec: { template, ...spec } };
}

test('a Job runs its Pods to their end, counts each once, and lets go of them', async (t) => {
  const { client, kubelet, list, at } = await start(t);
  kubelet.behave(() => 'Succeeded');
  const made = await client.create(JOBS, job({ completions: 5, parallelism: 2 }));
  assert.deepEqual(made.spec.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': made.metadata.uid } });
  const isOver = async (name: string) => (await client.get(JOBS, at(name)))?.status?.conditions?.at(-1)?.type;
  await until(async () => (await isOver('work')) === 'Complete', 'the Job to end');
  const { status } = (await client.get(JOBS, at('work'))) ?? made;
  assert.deepEqual([status?.succeeded, status?.failed, status?.active, status?.uncountedTerminatedPods], [5, undefined, undefined, {}]);
  assert.deepEqual(
    (await list()).map(({ metadata }) => metadata.finalizers),
    Array(5).fill(undefined),
  );
  await client.create(JOBS, job({ completions: 3, parallelism: 3, completionMode: 'Indexed', ttlSecondsAfterFinished: 0 }, 'numbered'));
  await until(async () => (await client.get(JOBS, at('numbered'))) === undefined, 'the numbered one to end and go');
  await until(async () => (await list()).length === 5, 'its Pods, too');
  kubelet.behave(() => 'Failed');
  await client.create(JOBS, job({ backoffLimit: 0 }, 'broken'));
  await until(async () => (await isOver('broken')) === 'Failed', 'the Job to fail');
  assert.equal((await client.get(JOBS, at('broken')))?.status?.failed, 1);
  kubelet.behave(() => 'ready');
  await client.create(JOBS, job({ completions: 2, parallelism: 2 }, 'long'));
  await until(async () => (await client.get(JOBS, at('long')))?.status?.ready === 2, 'it to run');
  await client.patch(JOBS, at('long'), { spec: { suspend: true } });
  await until(async () => (await client.get(JOBS, at('long')))?.status?.active === undefined, 'it to be suspended');
  assert.equal((await client.get(JOBS, at('long')))?.status?.failed, undefined);
  await client.patch(JOBS, at('long'), { spec: { suspend: false } });
  await until(async () => (await client.get(JOBS, at('long')))?.status?.active === 2, 'it to go on');
  for (const name of ['long', 'work', 'broken']) await client.delete(JOBS, at(name), { propagationPolicy: 'Background' });
  await until(async () => (await list()).length === 0, 'all Pods to go with their Jobs');
});

test('a StatefulSet makes numbered Pods in order, with claims that stay, and rolls out from the highest down to its partition', async (t) => {
  const { client, list, at } = await start(t);
  const { selector, template } = deployment().spec;
  const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } } };
  const spec = { replicas: 3, serviceName: 'web', selector, template, volumeClaimTemplates: [claim] };
  const set: StatefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'web', namespace: 'default' }, spec };
  await client.create(STATEFUL_SETS, set);
  const status = async () => (await client.get(STATEFUL_SETS, at('web')))?.status;
  const shown = async () => (await list()).map((pod) => `${pod.metadata.name} ${pod.spec.containers[0]?.image}`).sort();
  await until(async () => (await status())?.readyReplicas === 3, 'three Pods');
  assert.deepEqual(await shown(), ['web-0 nothing:1', 'web-1 nothing:1', 'web-2 nothing:1']);
  const claims = async () => (await client.list(PERSISTENT_VOLUME_CLAIMS)).items.map(({ metadata }) => metadata.name).sort();
  assert.deepEqual(await claims(), ['data-web-0', 'data-web-1', 'data-web-2']);
  const partition = (n: number) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: n } } });
  await client.patch(STATEFUL_SETS, at('web'), { spec: { ...partition(2), ...image('nothing:2').spec } });
  await until(async () => (await shown()).includes('web-2 nothing:2') && (await status())?.updatedReplicas === 1, 'the last Pod');
  assert.deepEqual(await shown(), ['web-0 nothing:1', 'web-1 nothing:1', 'web-2 nothing:2']);
  await client.patch(STATEFUL_SETS, at('web'), { spec: partition(0) });
  await until(async () => {
    const now = await status();
    return now?.currentRevision === now?.updateRevision && now?.updatedReplicas === 3 && now.readyReplicas === 3;
  }, 'all Pods');
  await client.patch(STATEFUL_SETS, at('web'), { spec: { replicas: 1 } });
  await until(async () => (await list()).length === 1, 'one Pod');
  assert.deepEqual([await shown(), (await claims()).length], [['web-0 nothing:2'], 3]);
});

/** A rollout and a Job of native containers while the cluster is killed again and again: each container writes down that it starts. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { identify, signalProcess } from '../../src/base/node/process-identity.ts';
import type { Random } from '../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import { BUSYBOX_IMAGE } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { until } from '../../src/testing/until.ts';
import type { EmbeddedCluster } from './harness.ts';

const NAME = 'churn';
const REPLICAS = 3;
const LONGEST_LIFE_MS = 1_500;
const PATIENCE = '--timeout=300s';

/** Resolves when every Pod that was ever made has been seen to start once, and the Job has exactly the completions that it asked for. */
export async function churnUnderKills(cluster: EmbeddedCluster, { kills, random }: { kills: number; random: Random }): Promise<string> {
  const completions = 4 + 2 * kills;
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(churn(completions)) });
  for (let kill = 1; kill <= kills; kill += 1) {
    await cluster.must('kubectl', ['set', 'env', 'deployment/churn', `ROUND=${kill}`]);
    await systemClock.sleep(random() * LONGEST_LIFE_MS);
    const self = identify(cluster.pid());
    assert.ok(self && signalProcess(self, 'SIGKILL'), `the cluster runs before kill ${kill}`);
    await cluster.must('virtctl', ['up']);
  }
  await cluster.must('kubectl', ['rollout', 'status', 'deployment/churn', PATIENCE], { timeoutMs: 310_000 });
  await cluster.must('kubectl', ['wait', 'job/tally', '--for=condition=Complete', PATIENCE], { timeoutMs: 310_000 });

  const job = '{.status.succeeded} succeeded, {.status.failed} failed';
  assert.equal(await cluster.must('kubectl', ['get', 'job', 'tally', '-o', `jsonpath=${job}`]), `${completions} succeeded,  failed`);
  await until(async () => (await podsOf(cluster, 'app=churn')).length === REPLICAS, 'the Pods of former rollouts to be gone');
  await until(() => runningContainers(cluster.home) === REPLICAS, 'their containers, too, and no other');
  const pods = [...(await podsOf(cluster, 'app=churn')), ...(await podsOf(cluster, 'job-name=tally'))];
  const starts = startsIn(await folderOf(cluster));
  assert.deepEqual(
    [...starts].filter(([, count]) => count !== 1),
    [],
    'containers that started more than once',
  );
  assert.deepEqual(
    pods.filter((name) => !starts.has(name)),
    [],
    'Pods that are there and never started',
  );
  assert.equal([...starts.keys()].filter((name) => name.startsWith('tally-')).length, completions);
  await cluster.must('kubectl', ['delete', 'deployment/churn', 'job/tally', 'pvc/starts']);
  return `${kills} kills, ${starts.size} containers started, ${completions} completions`;
}

function churn(completions: number): object {
  const template = (labels: object, script: string, restartPolicy: string) => ({
    metadata: { labels },
    spec: {
      restartPolicy,
      terminationGracePeriodSeconds: 1,
      volumes: [{ name: 'starts', persistentVolumeClaim: { claimName: 'starts' } }],
      containers: [
        {
          name: NAME,
          image: BUSYBOX_IMAGE,
          command: ['sh', '-c', `echo start >> /starts/$HOSTNAME; ${script}`],
          volumeMounts: [{ name: 'starts', mountPath: '/starts' }],
        },
      ],
    },
  });
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
  const labels = { app: 'churn' };
  const rollout = { replicas: REPLICAS, selector: { matchLabels: labels }, template: template(labels, 'exec sleep 1000000', 'Always') };
  const tally = { completions, parallelism: 2, backoffLimit: 0, template: template({}, 'sleep 0.3', 'Never') };
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'starts' }, spec: claim },
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'churn' }, spec: rollout },
      { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'tally' }, spec: tally },
    ],
  };
}

async function podsOf(cluster: EmbeddedCluster, labels: string): Promise<string[]> {
  const names = await cluster.must('kubectl', ['get', 'pods', '-l', labels, '-o', 'jsonpath={.items[*].metadata.name}']);
  return names.split(' ').filter((name) => name !== '');
}

/** Of this name, whether the cluster knows of them or not. */
function runningContainers(home: string): number {
  const pods = join(home, 'kubelet/pods');
  const files = readdirSync(pods).map((uid) => join(pods, uid, 'containers', NAME, 'bundle/pid'));
  return files.filter((path) => existsSync(path) && identify(Number(readFileSync(path, 'utf8')))).length;
}

async function folderOf(cluster: EmbeddedCluster): Promise<string> {
  const path = 'jsonpath={.items[?(@.spec.claimRef.name=="starts")].spec.hostPath.path}';
  return cluster.must('kubectl', ['get', 'pv', '-o', path]);
}

/** How often each Pod has started, by its name. */
function startsIn(folder: string): Map<string, number> {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(names.map(({ name }) => [name, readFileSync(join(folder, name), 'utf8').split('\n').length - 1]));
}

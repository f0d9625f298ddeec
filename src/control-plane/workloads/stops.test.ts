/**
 * Controllers that are killed after any of their writes and start again on old lists: nothing is made twice and nothing is lost.
 * A killed one never learns how its last write went; the next one begins with what was true some writes ago, and catches up later.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DEPLOYMENTS } from '../../api/core/deployment.ts';
import { JOBS, type Job } from '../../api/core/job.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { REPLICA_SETS } from '../../api/core/replica-set.ts';
import { controllerOf, type KubeObject } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import type { Client, Listed } from '../../client/client.ts';
import { until } from '../../testing/until.ts';
import { startTestServer, type TestServer } from '../apiserver/test-server.testing.ts';
import { labels, template } from './builders.testing.ts';
import { startFakeKubelet } from './fake-kubelet.testing.ts';
import { isPodActive } from './pod-state.ts';
import { runWorkloads, WORKLOAD_READER } from './run.ts';

const STOPS = Number(process.env['WORKLOAD_STOPS'] ?? 100);
const REPLICAS = 4;
const SURGE = 1;
const COMPLETIONS = 3;

/** mulberry32: small, seeded, good enough to choose when to stop. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

type Lists = Map<string, Listed<KubeObject>>;

/** Controllers that live for so many writes; `lists` is what they believe at first, where there is something, and what they saw last afterwards. */
async function liveFor(server: TestServer, writes: number, lists: Lists): Promise<void> {
  const stop = new AbortController();
  let left = writes;
  const never = new Promise<never>(() => {});
  /** Nothing of a process outlives it. */
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms, AbortSignal.any([stop.signal, ...(signal ? [signal] : [])])),
  };
  const rest = { clock, log: silentLogger, signal: stop.signal };
  /** The last write is done or refused, and nobody hears of it. */
  const counted = async <T>(write: () => Promise<T>): Promise<T> => {
    if (left <= 0) return never;
    left -= 1;
    if (left > 0) return write();
    await write().catch(() => {});
    stop.abort();
    return never;
  };
  const mortal = (client: Client): Client => ({
    ...client,
    create: (resource, object, more) =>
      resource.kind === 'Event' ? client.create(resource, object, more) : counted(() => client.create(resource, object, more)),
    patch: (resource, at, patch, more) =>
      resource.kind === 'Event' ? client.patch(resource, at, patch, more) : counted(() => client.patch(resource, at, patch, more)),
    delete: (resource, at, more) => counted(() => client.delete(resource, at, more)),
  });
  const reader = server.clientAs(WORKLOAD_READER);
  const forgetful: Client = {
    ...reader,
    list: async <T extends KubeObject>(resource: Resource<T>): Promise<Listed<T>> => {
      const old = lists.get(resource.plural);
      const fresh = await reader.list(resource);
      lists.set(resource.plural, fresh);
      return (old as Listed<T> | undefined) ?? fresh; // put there under the same name
    },
  };
  void runWorkloads({
    reader: { ...rest, client: forgetful },
    as: (name) => ({ ...rest, client: mortal(server.clientAs(`system:serviceaccount:kube-system:${name}`)) }),
  });
  await settled(server, stop.signal);
  stop.abort();
}

/** Everything is as wanted, and said so; or nobody is left who could do it. */
async function settled({ client }: TestServer, killed: AbortSignal): Promise<void> {
  await until(async () => {
    if (killed.aborted) return true;
    const deployments = (await client.list(DEPLOYMENTS)).items;
    const jobs = (await client.list(JOBS)).items;
    return (
      jobs.every(({ status }) => status?.conditions?.some(({ type }) => type === 'Complete')) &&
      deployments.every(({ metadata, spec, status }) => {
        const said = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
        return status?.observedGeneration === metadata.generation && said.every((n) => (n ?? 0) === spec.replicas);
      })
    );
  }, 'everything to settle');
}

async function start(t: TestContext): Promise<{ server: TestServer; pods: Map<string, Pod>; most: () => string[]; peak: () => number }> {
  const server = await startTestServer({ historySize: 100_000 });
  const stop = new AbortController();
  const kubelet = await startFakeKubelet({ client: server.client, now: Date.now, signal: stop.signal });
  kubelet.behave((pod) => (controllerOf(pod)?.kind === 'Job' ? 'Succeeded' : 'ready'));
  const pods = new Map<string, Pod>();
  /** By the uid of a ReplicaSet: how many Pods it had at most, at once. */
  const peaks = new Map<string, number>();
  /** How many all of them had at most, at once. */
  let together = 0;
  /** The largest size that each was ever given. */
  const wanted = new Map<string, number>();
  const watching = Promise.all([watch(), watchSizes()]);
  t.after(async () => {
    stop.abort();
    await Promise.all([kubelet.stopped, watching]);
    server.close();
  });
  return {
    server,
    pods,
    most: () => [...peaks].filter(([uid, peak]) => peak > (wanted.get(uid) ?? 0)).map(([uid, peak]) => `${peak} Pods of ${uid}`),
    peak: () => together,
  };

  async function watchSizes(): Promise<void> {
    const { resourceVersion } = await server.client.list(REPLICA_SETS);
    try {
      for await (const { type, object } of server.client.watch(REPLICA_SETS, { resourceVersion, signal: stop.signal })) {
        if (type === 'BOOKMARK') continue;
        const uid = object.metadata.uid ?? '';
        wanted.set(uid, Math.max(wanted.get(uid) ?? 0, object.spec.replicas ?? 1));
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  }

  /** Sees every Pod there ever is, as the server has it. */
  async function watch(): Promise<void> {
    const { resourceVersion } = await server.client.list(PODS);
    const alive = new Map<string, Pod>();
    try {
      for await (const event of server.client.watch(PODS, { resourceVersion, signal: stop.signal })) {
        if (event.type === 'BOOKMARK') continue;
        const uid = event.object.metadata.uid ?? '';
        pods.set(uid, event.object);
        if (event.type === 'DELETED' || !isPodActive(event.object)) alive.delete(uid);
        else alive.set(uid, event.object);
        together = Math.max(together, [...alive.values()].filter((pod) => controllerOf(pod)?.kind === 'ReplicaSet').length);
        const owner = controllerOf(event.object);
        const beside = [...alive.values()].filter((pod) => controllerOf(pod)?.uid === owner?.uid).length;
        if (owner?.kind === 'ReplicaSet') peaks.set(owner.uid, Math.max(peaks.get(owner.uid) ?? 0, beside));
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  }
}

test(`${STOPS} stops after any write, in the middle of rollouts and Jobs: nothing is doubled, nothing is lost`, {
  timeout: 60_000 + STOPS * 1000,
}, async (t) => {
  await churn(t, { stops: STOPS, mayStartOnOldLists: true });
});

test('and where each starts on fresh lists, a Deployment never has more Pods than its surge allows', {
  timeout: 60_000 + STOPS * 1000,
}, async (t) => {
  const peak = await churn(t, { stops: Math.ceil(STOPS / 4), mayStartOnOldLists: false });
  assert.ok(peak <= REPLICAS + SURGE, `${peak} Pods at once, ${REPLICAS} wanted and ${SURGE} of surge`);
});

/** Rollouts and Jobs under controllers that are killed; answers how many Pods of ReplicaSets there were at most. */
async function churn(t: TestContext, { stops, mayStartOnOldLists }: { stops: number; mayStartOnOldLists: boolean }): Promise<number> {
  const { server, pods, most, peak } = await start(t);
  const { client } = server;
  const roll = dice(Number(process.env['WORKLOAD_SEED'] ?? 1));
  const at = { namespace: 'default', name: 'web' };
  await client.create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: at,
    spec: {
      replicas: REPLICAS,
      selector: { matchLabels: labels },
      template: template('nothing:0'),
      revisionHistoryLimit: 2,
      strategy: { rollingUpdate: { maxSurge: SURGE, maxUnavailable: 1 } },
    },
  });
  let jobs = 0;
  const lists: Lists = new Map();
  for (let stop = 0; stop < stops; stop += 1) {
    if (roll(3) === 0) await client.create(JOBS, job(`job-${jobs++}`));
    if (roll(3) === 0) await client.patch(DEPLOYMENTS, at, { spec: { template: template(`nothing:${stop}`) } });
    if (roll(2) === 0 || !mayStartOnOldLists) lists.clear(); // this one starts on fresh lists
    await liveFor(server, 1 + roll(12), lists);
  }
  await liveFor(server, Number.POSITIVE_INFINITY, new Map());
  t.diagnostic(`${stops} stops, ${pods.size} Pods, ${jobs} Jobs`);
  assert.deepEqual(most(), [], 'no ReplicaSet ever had more than it was told to have');
  const left = (await client.list(PODS)).items.filter((pod) => isPodActive(pod));
  assert.deepEqual(
    left.map((pod) => controllerOf(pod)?.kind),
    Array(REPLICAS).fill('ReplicaSet'),
  );
  const ofJobs = [...pods.values()].filter((pod) => controllerOf(pod)?.kind === 'Job');
  assert.equal(ofJobs.length, jobs * COMPLETIONS, 'each ran as often as was asked for');
  const counts = (await client.list(JOBS)).items.map(({ status }) => [status?.succeeded, status?.failed, status?.uncountedTerminatedPods]);
  assert.deepEqual(counts, Array(jobs).fill([COMPLETIONS, undefined, {}]));
  return peak();
}

function job(name: string): Job {
  const { spec } = template('');
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: 'default', name },
    spec: {
      completions: COMPLETIONS,
      parallelism: 2,
      template: { spec: { ...spec, containers: [{ name: 'main', image: 'nothing:1' }], restartPolicy: 'Never' } },
    },
  };
}

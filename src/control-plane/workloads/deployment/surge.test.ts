/** Rollouts one into the other, scaled meanwhile, with real controllers: how many Pods there are at once, of all ReplicaSets together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPLOYMENTS } from '../../../api/core/deployment.ts';
import { PODS } from '../../../api/core/pod.ts';
import { systemClock } from '../../../base/clock.ts';
import { silentLogger } from '../../../base/log.ts';
import type { Client } from '../../../client/client.ts';
import { until } from '../../../testing/until.ts';
import { startTestServer } from '../../apiserver/test-server.testing.ts';
import { labels, template } from '../builders.testing.ts';
import { startFakeKubelet } from '../fake-kubelet.testing.ts';
import { isPodActive } from '../pod-state.ts';
import { runWorkloads, WORKLOAD_READER } from '../run.ts';

const REPLICAS = 4;
const SURGE = 1;
const ROLLOUTS = 20;
const SLOW_MS = 10;

/** Pods go later than the number of their set: whoever goes by the number alone makes the next one too early. */
function slowToDelete(client: Client): Client {
  return {
    ...client,
    delete: async (...about) => {
      await systemClock.sleep(SLOW_MS);
      return client.delete(...about);
    },
  };
}

test('a rollout never has more Pods than replicas and maxSurge together', async (t) => {
  const { client, clientAs, close } = await startTestServer({ historySize: 100_000 });
  const stop = new AbortController();
  const rest = { clock: systemClock, log: silentLogger, signal: stop.signal };
  const kubelet = await startFakeKubelet({ client, now: Date.now, signal: stop.signal });
  const alive = new Set<string>();
  let most = 0;
  const watching = (async () => {
    const { resourceVersion } = await client.list(PODS);
    try {
      for await (const { type, object } of client.watch(PODS, { resourceVersion, signal: stop.signal })) {
        if (type === 'BOOKMARK') continue;
        if (type === 'DELETED' || !isPodActive(object)) alive.delete(object.metadata.uid ?? '');
        else alive.add(object.metadata.uid ?? '');
        most = Math.max(most, alive.size);
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  })();
  const running = runWorkloads({
    reader: { ...rest, client: clientAs(WORKLOAD_READER) },
    as: (name) => ({ ...rest, client: slowToDelete(clientAs(`system:serviceaccount:kube-system:${name}`)) }),
  });
  t.after(async () => {
    stop.abort();
    await Promise.all([running, watching, kubelet.stopped]);
    close();
  });
  const at = { namespace: 'default', name: 'web' };
  const strategy = { rollingUpdate: { maxSurge: SURGE, maxUnavailable: 1 } };
  const spec = { replicas: REPLICAS, selector: { matchLabels: labels }, template: template('nothing:0'), strategy };
  await client.create(DEPLOYMENTS, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: at, spec });
  const statusIs = (isIt: (numbers: { all: number; updated: number; available: number }) => boolean, what: string) =>
    until(async () => {
      const { metadata, status = {} } = (await client.get(DEPLOYMENTS, at))!; // made above
      const { replicas: all = 0, updatedReplicas: updated = 0, availableReplicas: available = 0 } = status;
      return status.observedGeneration === metadata.generation && isIt({ all, updated, available });
    }, what);
  const isDone = ({ all, updated, available }: { all: number; updated: number; available: number }) =>
    [all, updated, available].every((n) => n === REPLICAS);
  for (let n = 1; n <= ROLLOUTS; n += 1) {
    // Every third goes back to one that is there, every other one is overtaken by the next.
    await client.patch(DEPLOYMENTS, at, { spec: { template: template(`nothing:${n % 3 === 0 ? n - 2 : n}`) } });
    await statusIs(n % 2 === 0 ? isDone : ({ updated }) => updated > 1, `rollout ${n}`);
  }
  await statusIs(isDone, 'the last rollout');
  assert.equal(most, REPLICAS + SURGE);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LEASES } from '../../api/core/lease.ts';
import { NODES } from '../../api/core/node.ts';
import { PODS } from '../../api/core/pod.ts';
import { isReady } from '../../api/core/taints.ts';
import { silentLogger } from '../../base/log.ts';
import { timestamp } from '../../base/timestamp.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { startTestServer } from '../apiserver/test-server.testing.ts';
import { runNodeLifecycle } from './run.ts';

const LEASE = { namespace: 'kube-node-lease', name: 'n1' };
/** As many turns as the watch of a write and the next decision need. */
const TURNS = 15;

/** One node with a lease, a Pod that tolerates ten seconds without it, and one with the usual five minutes. */
async function start(t: TestContext) {
  const clock = new FakeClock();
  const server = await startTestServer({ clock });
  const { client } = server;
  const stop = new AbortController();
  const ready = { type: 'Ready', status: 'True' } as const;
  await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: { conditions: [ready] } });
  await client.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: LEASE, spec: {} });
  const key = 'node.kubernetes.io/unreachable';
  const impatient = [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 }];
  for (const [name, tolerations] of [
    ['impatient', impatient],
    ['usual', []],
  ] as const) {
    const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], tolerations };
    await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec });
  }
  const as = server.clientAs('system:serviceaccount:kube-system:node-controller', ['system:serviceaccounts']);
  const stopped = runNodeLifecycle({ client: as, clock, log: silentLogger, signal: stop.signal });
  t.after(async () => {
    stop.abort();
    await stopped;
    server.close();
  });

  /** Until nobody but ourselves writes: what was written before is on disk, and seen, when a write after it is. */
  async function settle(): Promise<void> {
    for (let before = -1; server.store.revision !== before + 1; ) {
      before = server.store.revision;
      for (let turn = 0; turn < TURNS; turn += 1) await new Promise(setImmediate);
      await server.store.write({ key: 'nobody/watches/this', value: {} });
    }
  }
  await settle();
  return {
    /** Time goes by as usual. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1000);
        await settle();
      }
    },
    /** The process, or its machine, is stopped for so long. */
    async pause(seconds: number) {
      clock.advance(seconds * 1000);
      await settle();
    },
    renew: () => client.patch(LEASES, LEASE, { spec: { renewTime: timestamp(clock.now()).replace('Z', '.000000Z') } }),
    sayReady: () => client.patch(NODES, { name: 'n1' }, { status: { conditions: [ready] } }, { subresource: 'status' }),
    async state() {
      const node = await client.get(NODES, { name: 'n1' });
      const { items } = await client.list(PODS, { namespace: 'default' });
      return {
        isReady: node !== undefined && isReady(node),
        taints: (node?.spec?.taints ?? []).map((taint) => `${taint.key}:${taint.effect}`),
        leaving: items.filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name),
      };
    },
  };
}

const WELL = { isReady: true, taints: [], leaving: [] };
const TAINTS = ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute'];

test('a node whose lease is not renewed is tainted, its Pods leave in their time, and it comes back', { timeout: 60_000 }, async (t) => {
  const { pass, renew, sayReady, state } = await start(t);
  await pass(30);
  await renew();
  await pass(45);
  assert.deepEqual(await state(), WELL, 'renewed in time');
  await pass(7);
  assert.deepEqual(await state(), { isReady: false, taints: TAINTS, leaving: [] });
  await pass(12);
  assert.deepEqual(await state(), { isReady: false, taints: TAINTS, leaving: ['impatient'] });
  await renew();
  await sayReady();
  await pass(1);
  assert.deepEqual(await state(), { ...WELL, leaving: ['impatient'] });
});

test('a pause of the process itself counts for nothing: neither as silence nor as time that a Pod has tolerated', {
  timeout: 60_000,
}, async (t) => {
  const { pass, pause, state } = await start(t);
  await pass(40);
  await pause(3600);
  await pass(40);
  assert.deepEqual(await state(), WELL);
  await pass(12);
  assert.deepEqual(await state(), { isReady: false, taints: TAINTS, leaving: [] });
  await pause(3600);
  await pass(8);
  assert.deepEqual((await state()).leaving, []);
  await pass(4);
  assert.deepEqual((await state()).leaving, ['impatient']);
});

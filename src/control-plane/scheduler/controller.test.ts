import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EVENTS } from '../../api/core/event.ts';
import { NODES } from '../../api/core/node.ts';
import { PODS, type Pod, type PodSpec } from '../../api/core/pod.ts';
import { conditionOf } from '../../api/meta.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { until } from '../../testing/until.ts';
import { startTestServer } from '../apiserver/test-server.testing.ts';
import { node } from './builders.testing.ts';
import { runScheduler } from './controller.ts';

async function start(t: TestContext) {
  const { client, close } = await startTestServer();
  const stop = new AbortController();
  const ended = runScheduler({ client, clock: systemClock, log: silentLogger, signal: stop.signal });
  t.after(async () => {
    stop.abort();
    await ended;
    close();
  });
  return {
    client,
    async addNode(name: string) {
      const added = node({ name });
      await client.create(NODES, added);
      await client.patch(NODES, { name }, { status: added.status }, { subresource: 'status' });
    },
    addPod: (name: string, cpu: string, spec: Partial<PodSpec> = {}) =>
      client.create(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', name },
        spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...spec },
      } satisfies Pod),
    pods: async () => (await client.list(PODS)).items,
    events: async () =>
      (await client.list(EVENTS)).items.map(({ type, reason, message, source }) => [type, reason, message, source.component]),
  };
}

test('a Pod waits for a node, says so, and is bound when there is one', async (t) => {
  const { addNode, addPod, pods, events } = await start(t);
  const scheduled = async () => conditionOf((await pods())[0]?.status?.conditions, 'PodScheduled');
  await addPod('web', '1');
  await until(async () => (await scheduled())?.reason === 'Unschedulable', 'the reason');
  assert.equal((await scheduled())?.message, 'no nodes available to schedule pods');
  await addNode('n1');
  await until(async () => (await pods())[0]?.spec.nodeName === 'n1', 'the binding');
  assert.equal((await scheduled())?.status, 'True');
  await until(async () => (await events()).some(([, reason]) => reason === 'Scheduled'), 'the event');
  const recorded = await events();
  for (const expected of [
    ['Warning', 'FailedScheduling', 'no nodes available to schedule pods', 'default-scheduler'],
    ['Normal', 'Scheduled', 'Successfully assigned default/web to n1', 'default-scheduler'],
  ]) {
    assert.ok(
      recorded.some((event) => event.join() === expected.join()),
      `no ${expected.join(' ')} in ${JSON.stringify(recorded)}`,
    );
  }
});

test('room is given away once, and again when it is free', async (t) => {
  const { client, addNode, addPod, pods } = await start(t);
  await addNode('n1');
  const names = Array.from({ length: 8 }, (_, index) => `p${index}`);
  await Promise.all(names.map((name) => addPod(name, '2'))); // a node has four
  const placed = async () => (await pods()).filter(({ spec }) => spec.nodeName === 'n1');
  const told = async () =>
    (await pods()).filter(({ status }) => conditionOf(status?.conditions, 'PodScheduled')?.reason === 'Unschedulable');
  await until(async () => (await told()).length === 6, 'six to be told that there is no room');
  const [first, second] = await placed();
  assert.equal((await placed()).length, 2);
  await client.delete(PODS, first!.metadata, { gracePeriodSeconds: 0 }); // there are two, as was just seen
  await until(async () => (await placed()).length === 2, 'the next in line');
  assert.ok((await placed()).some(({ metadata }) => metadata.uid === second?.metadata.uid));
  assert.equal((await told()).length, 5);
});

test('a more important Pod gets the room of a less important one, which is told', async (t) => {
  const { client, addNode, addPod, pods, events } = await start(t);
  const classed = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 };
  await client.create(
    { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses', kind: 'PriorityClass', isNamespaced: false },
    classed,
  );
  const find = async (name: string) => (await pods()).find(({ metadata }) => metadata.name === name);
  await addNode('n1');
  await addPod('large', '4');
  await until(async () => (await find('large'))?.spec.nodeName === 'n1', 'the first');
  await addPod('late', '1');
  await addPod('vip', '1', { priorityClassName: 'high' });
  await until(async () => (await find('vip'))?.status?.nominatedNodeName === 'n1', 'a node to be chosen');
  const isGoing = async () => (await pods()).filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
  await until(async () => (await isGoing()).length > 0, 'a victim');
  const [victim = ''] = await isGoing();
  assert.equal(victim, 'large');
  assert.equal(conditionOf((await find(victim))?.status?.conditions, 'DisruptionTarget')?.reason, 'PreemptionByScheduler');
  await client.delete(PODS, { namespace: 'default', name: victim }, { gracePeriodSeconds: 0 }); // what a kubelet does in the end
  await until(async () => (await find('vip'))?.spec.nodeName === 'n1', 'the room');
  await until(async () => (await find('late'))?.spec.nodeName === 'n1', 'what is left of it');
  await until(
    async () => (await events()).some(([, reason, message]) => reason === 'Preempted' && /on node n1$/.test(message ?? '')),
    'the event',
  );
});

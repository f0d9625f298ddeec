import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { bindRole, outcome } from '../access/rights.testing.ts';
import { startTestServer } from '../test-server.testing.ts';

async function start(t: TestContext) {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(path, { method: 'POST', body: JSON.stringify(body), headers });
    return (await response.json()) as Pod & { readonly message?: string };
  };
  const addClass = async (name: string, value: number, more: object = {}) => {
    const body = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, ...more };
    return (await post('/apis/scheduling.k8s.io/v1/priorityclasses', body)).message;
  };
  let pods = 0;
  const addPod = async (spec: object) => {
    const containers = [{ name: 'c', image: 'i' }];
    const metadata = { name: `p${pods++}` };
    const pod = await post('/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec } });
    const { priorityClassName, priority, preemptionPolicy } = pod.spec ?? {};
    return pod.message ?? [priorityClassName, priority, preemptionPolicy];
  };
  return { addClass, addPod };
}

test('a Pod has the priority of its class', async (t) => {
  const { addClass, addPod } = await start(t);
  assert.equal(await addClass('high', 1000), undefined);
  assert.equal(await addClass('patient', 500, { preemptionPolicy: 'Never' }), undefined);
  assert.deepEqual(await addPod({}), [undefined, 0, 'PreemptLowerPriority']);
  assert.deepEqual(await addPod({ priorityClassName: 'high' }), ['high', 1000, 'PreemptLowerPriority']);
  assert.deepEqual(await addPod({ priorityClassName: 'patient' }), ['patient', 500, 'Never']);
  assert.deepEqual(await addPod({ priorityClassName: 'system-node-critical' }), [
    'system-node-critical',
    2_000_001_000,
    'PreemptLowerPriority',
  ]);
  assert.deepEqual(await addPod({ priorityClassName: 'high', priority: 1000 }), ['high', 1000, 'PreemptLowerPriority']);
});

test('what the cluster itself runs in front of everybody is for its own namespaces', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  await bindRole(server.client, { name: 'cluster-admin', as: 'all', subject: { kind: 'Group', name: 'system:authenticated' } });
  const virtController = 'system:serviceaccount:kubevirt:kubevirt-controller';
  const added = (user: string, namespace: string, priorityClassName: string) =>
    outcome(
      server.clientAs(user).create(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { generateName: 'p-', name: '', namespace },
        spec: { containers: [{ name: 'c', image: 'i' }], priorityClassName },
      }),
    );
  for (const name of ['system-node-critical', 'system-cluster-critical'])
    for (const user of ['tenant', virtController, 'system:serviceaccount:kube-system:replicaset-controller'])
      assert.match(await added(user, 'default', name), new RegExp(`pods with ${name} priorityClass is not permitted in default namespace`));
  assert.equal(await added('tenant', 'kube-system', 'system-node-critical'), 'ok');
});

test('nobody gives itself a priority', async (t) => {
  const { addClass, addPod } = await start(t);
  await addClass('high', 1000);
  assert.match(
    String(await addPod({ priority: 7 })),
    /the integer value of priority \(7\) must not be provided in pod spec; .* computed 0/,
  );
  assert.match(String(await addPod({ priorityClassName: 'high', priority: 7 })), /priority \(7\) must not be provided .* computed 1000/);
  assert.match(
    String(await addPod({ priorityClassName: 'high', preemptionPolicy: 'Never' })),
    /PreemptionPolicy \(Never\) must not be provided/,
  );
  assert.match(String(await addPod({ priorityClassName: 'absent' })), /no PriorityClass with name absent was found/);
});

test('one class is for Pods that name none', async (t) => {
  const { addClass, addPod } = await start(t);
  assert.equal(await addClass('usual', 10, { globalDefault: true }), undefined);
  assert.match((await addClass('other', 20, { globalDefault: true })) ?? '', /PriorityClass usual is already marked as default/);
  assert.deepEqual(await addPod({}), ['usual', 10, 'PreemptLowerPriority']);
});

test("the highest priorities are the system's", async (t) => {
  const { addClass } = await start(t);
  assert.match((await addClass('system-mine', 1)) ?? '', /prefix are reserved for system use only/);
  assert.match((await addClass('mine', 1_000_000_001)) ?? '', /maximum allowed value of a user defined priority is 1000000000/);
  assert.match((await addClass('odd', 1, { preemptionPolicy: 'Sometimes' })) ?? '', /Unsupported value: "Sometimes"/);
});

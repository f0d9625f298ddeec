import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../../../api/core/configmap.ts';
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { isApiError } from '../../../base/errors.ts';
import { timeoutSignal } from '../../../base/timeout-signal.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { startTestServer } from '../test-server.testing.ts';

const IN_DEFAULT = { namespace: 'default', name: 'a' };

function map(name: string, metadata: object = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata } };
}

function podOn(node: string, spec: Partial<Pod['spec']> = {}): Pod {
  const containers = [{ name: 'c', image: 'i' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'default' }, spec: { nodeName: node, containers, ...spec } };
}

test('an object that nobody holds is gone at once, and the answer has its uid', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  const { metadata } = await client.create(CONFIG_MAPS, map('a'));
  const answer = await fetch('/api/v1/namespaces/default/configmaps/a', { method: 'DELETE' });
  assert.deepEqual(await answer.json(), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'a', kind: 'configmaps', uid: metadata.uid },
  });
  assert.equal(await client.get(CONFIG_MAPS, IN_DEFAULT), undefined);
});

test('finalizers keep a deleted object until the last one is removed, and none can be added', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CONFIG_MAPS, map('a', { finalizers: ['example.com/a', 'example.com/b'] }));
  await client.delete(CONFIG_MAPS, IN_DEFAULT);
  const held = await client.get(CONFIG_MAPS, IN_DEFAULT);
  assert.ok(held?.metadata.deletionTimestamp);
  assert.equal(held.metadata.deletionGracePeriodSeconds, 0);
  await assert.rejects(
    client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { finalizers: ['example.com/a', 'example.com/c'] } }),
    /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted/,
  );
  await client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { finalizers: ['example.com/a'] } });
  assert.ok(await client.get(CONFIG_MAPS, IN_DEFAULT));
  await client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { finalizers: [] } });
  assert.equal(await client.get(CONFIG_MAPS, IN_DEFAULT), undefined);
});

test('propagation policies become finalizers for the garbage collector', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  for (const [policy, finalizer] of [
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ] as const) {
    await client.create(CONFIG_MAPS, map('a'));
    await client.delete(CONFIG_MAPS, IN_DEFAULT, { propagationPolicy: policy });
    assert.deepEqual((await client.get(CONFIG_MAPS, IN_DEFAULT))?.metadata.finalizers, [finalizer]);
    await client.delete(CONFIG_MAPS, IN_DEFAULT, { propagationPolicy: 'Background' });
    assert.equal(await client.get(CONFIG_MAPS, IN_DEFAULT), undefined);
  }
});

test('preconditions that do not hold are a Conflict', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  const { metadata } = await client.create(CONFIG_MAPS, map('a'));
  await assert.rejects(client.delete(CONFIG_MAPS, IN_DEFAULT, { resourceVersion: '1' }), (error) => isApiError(error, 'Conflict'));
  const body = JSON.stringify({ preconditions: { uid: 'other' } });
  const answer = await fetch('/api/v1/namespaces/default/configmaps/a', { method: 'DELETE', body });
  const { message } = (await answer.json()) as { message: string };
  assert.equal(
    message,
    `Operation cannot be fulfilled on configmaps "a": Precondition failed: UID in precondition: other, UID in object meta: ${metadata.uid}`,
  );
  await client.delete(CONFIG_MAPS, IN_DEFAULT, { uid: metadata.uid });
  assert.equal(await client.get(CONFIG_MAPS, IN_DEFAULT), undefined);
});

test('a Pod on a node gets its grace period, which can only be shortened', async (t) => {
  const clock = new FakeClock();
  const { client, close } = await startTestServer({ clock });
  t.after(close);
  await client.create(PODS, podOn('n1', { terminationGracePeriodSeconds: 60 }));
  await client.delete(PODS, IN_DEFAULT);
  const first = await client.get(PODS, IN_DEFAULT);
  assert.deepEqual(
    [first?.metadata.deletionTimestamp, first?.metadata.deletionGracePeriodSeconds, first?.metadata.generation],
    ['2026-01-01T00:01:00Z', 60, 2],
  );
  clock.advance(5000);
  await client.delete(PODS, IN_DEFAULT, { gracePeriodSeconds: 90 });
  assert.deepEqual(await client.get(PODS, IN_DEFAULT), first);
  await client.delete(PODS, IN_DEFAULT, { gracePeriodSeconds: 20 });
  assert.equal((await client.get(PODS, IN_DEFAULT))?.metadata.deletionTimestamp, '2026-01-01T00:00:20Z');
  await client.delete(PODS, IN_DEFAULT, { gracePeriodSeconds: 0, uid: first?.metadata.uid });
  assert.equal(await client.get(PODS, IN_DEFAULT), undefined);
});

test('a Pod that runs nowhere, or has ended, goes at once', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(PODS, podOn(''));
  await client.delete(PODS, IN_DEFAULT);
  assert.equal(await client.get(PODS, IN_DEFAULT), undefined);
  await client.create(PODS, podOn('n1'));
  await client.patch(PODS, IN_DEFAULT, { status: { phase: 'Succeeded' } }, { subresource: 'status' });
  await client.delete(PODS, IN_DEFAULT);
  assert.equal(await client.get(PODS, IN_DEFAULT), undefined);
});

test('an eviction is a graceful deletion', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  await client.create(PODS, podOn('n1'));
  const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } });
  assert.equal((await fetch('/api/v1/namespaces/default/pods/a/eviction', { method: 'POST', body })).status, 201);
  const pod = await client.get(PODS, IN_DEFAULT);
  assert.equal(pod?.metadata.deletionGracePeriodSeconds, 30);
  const said = pod?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([said?.status, said?.reason], ['True', 'EvictionByEvictionAPI']);
});

test('an eviction of another Pod of the name changes nothing', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  await client.create(PODS, podOn('n1'));
  const before = await client.get(PODS, IN_DEFAULT);
  for (const preconditions of [{ uid: 'another' }, { resourceVersion: '1' }]) {
    const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' }, deleteOptions: { preconditions } });
    assert.equal((await fetch('/api/v1/namespaces/default/pods/a/eviction', { method: 'POST', body })).status, 409);
  }
  assert.deepEqual(await client.get(PODS, IN_DEFAULT), before);
  const preconditions = { uid: before?.metadata.uid, resourceVersion: before?.metadata.resourceVersion };
  const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' }, deleteOptions: { preconditions } });
  assert.equal((await fetch('/api/v1/namespaces/default/pods/a/eviction', { method: 'POST', body })).status, 201);
});

test('dryRun deletes nothing', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  await client.create(CONFIG_MAPS, map('a'));
  assert.equal((await fetch('/api/v1/namespaces/default/configmaps/a', { method: 'DELETE', body: '{"dryRun":["All"]}' })).status, 200);
  assert.ok(await client.get(CONFIG_MAPS, IN_DEFAULT));
});

test('a collection is deleted by selector', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  await client.create(CONFIG_MAPS, map('a', { labels: { app: 'x' } }));
  await client.create(CONFIG_MAPS, map('b', { labels: { app: 'y' } }));
  assert.equal((await fetch('/api/v1/namespaces/default/configmaps?labelSelector=app=x', { method: 'DELETE' })).status, 200);
  assert.deepEqual(
    (await client.list(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name),
    ['b'],
  );
});

test('a deleted namespace takes its content along and goes when the last object does', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  await client.create(CONFIG_MAPS, map('plain', { namespace: 'team' }));
  await client.create(CONFIG_MAPS, map('held', { namespace: 'team', finalizers: ['example.com/hold'] }));
  const events = client.watch(NAMESPACES, { fieldSelector: 'metadata.name=team', signal: timeoutSignal(5000) });
  await client.delete(NAMESPACES, { name: 'team' });
  for await (const { type, object } of events) {
    if (type === 'DELETED') break;
    if (type === 'BOOKMARK' || object.status?.phase !== 'Terminating') continue;
    const held = await client.get(CONFIG_MAPS, { namespace: 'team', name: 'held' });
    if (held) await client.patch(CONFIG_MAPS, { namespace: 'team', name: 'held' }, { metadata: { finalizers: [] } });
  }
  assert.equal(await client.get(NAMESPACES, { name: 'team' }), undefined);
  assert.deepEqual((await client.list(CONFIG_MAPS, { namespace: 'team' })).items, []);
});

test('the namespaces a cluster needs cannot be deleted', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await assert.rejects(client.delete(NAMESPACES, { name: 'kube-system' }), (error) => isApiError(error, 'Forbidden'));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS } from '../../api/core/configmap.ts';
import { NAMESPACES } from '../../api/core/namespace.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { isApiError } from '../../base/errors.ts';
import { createLogger } from '../../base/log.ts';
import { startTestServer } from './test-server.testing.ts';

function pod(name: string): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
}

test('an object can be created, read, listed, changed and deleted', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const created = await client.create(PODS, pod('a'));
  assert.equal(created.status?.phase, 'Pending');
  assert.equal(created.metadata.generation, 1);
  assert.deepEqual(await client.get(PODS, { namespace: 'default', name: 'a' }), created);
  assert.deepEqual((await client.list(PODS, { namespace: 'default' })).items, [created]);
  const patched = await client.patch(PODS, { namespace: 'default', name: 'a' }, { metadata: { labels: { x: 'y' } } });
  assert.deepEqual(patched.metadata.labels, { x: 'y' });
  assert.notEqual(patched.metadata.resourceVersion, created.metadata.resourceVersion);
  await client.delete(PODS, { namespace: 'default', name: 'a' });
  assert.equal(await client.get(PODS, { namespace: 'default', name: 'a' }), undefined);
});

test('the log tells of every write, at its most talkative: who asked for what, and the answer', async (t) => {
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), level: 'debug', now: () => 0 });
  const { client, clientAs, close } = await startTestServer({ log });
  t.after(close);
  lines.length = 0;
  await client.create(PODS, pod('a'));
  await client.get(PODS, { namespace: 'default', name: 'a' });
  await clientAs('somebody')
    .create(PODS, pod('b'))
    .catch(() => {});
  await client.delete(PODS, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 0 });
  const told = lines.map((line) => JSON.parse(line)).map(({ user, method, path, code }) => `${user} ${method} ${path} ${code}`);
  assert.deepEqual(told, [
    'admin POST /api/v1/namespaces/default/pods 201',
    'somebody POST /api/v1/namespaces/default/pods 403',
    'admin DELETE /api/v1/namespaces/default/pods/a 200',
  ]);
});

test('the namespaces every cluster has are there', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const { items } = await client.list(NAMESPACES);
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['default', 'kube-node-lease', 'kube-public', 'kube-system', 'kubevirt'],
  );
});

test('a watch shows what is there, then what changes', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap' as const, metadata: { name, namespace: 'default' } });
  await client.create(CONFIG_MAPS, map('a'));
  const seen: string[] = [];
  const stop = new AbortController();
  for await (const event of client.watch(CONFIG_MAPS, { namespace: 'default', signal: stop.signal })) {
    seen.push(`${event.type} ${event.object.metadata.name}`);
    if (seen.length === 1) await client.create(CONFIG_MAPS, map('b'));
    if (seen.length === 2) await client.patch(CONFIG_MAPS, { namespace: 'default', name: 'b' }, { data: { k: 'v' } });
    if (seen.length === 3) await client.delete(CONFIG_MAPS, { namespace: 'default', name: 'a' });
    if (seen.length === 4) stop.abort();
  }
  assert.deepEqual(seen, ['ADDED a', 'ADDED b', 'MODIFIED b', 'DELETED a']);
});

test('creating what exists is AlreadyExists', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(PODS, pod('a'));
  await assert.rejects(
    client.create(PODS, pod('a')),
    (error) => isApiError(error, 'AlreadyExists') && error.message === 'pods "a" already exists',
  );
});

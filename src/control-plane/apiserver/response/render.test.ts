import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

async function get({ fetch }: TestServer, path: string) {
  return (await fetch(path)).json();
}

test('an object reads the same from a write, a get, a list, a watch and as metadata, quotes and all', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const sent = {
    data: { text: '"},{"metadata":{"resourceVersion":"1"' },
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { annotations: { note: 'ä € 😀\n' }, name: 'a' },
  };
  const created = await (await server.fetch(MAPS, { method: 'POST', headers: json(), body: JSON.stringify(sent) })).json();
  const { items } = await get(server, MAPS);
  const stream = await server.fetch(`${MAPS}?watch=true&timeoutSeconds=1`);
  const { type, object } = JSON.parse((await stream.text()).split('\n')[0] ?? '');
  assert.deepEqual([await get(server, `${MAPS}/a`), items, type, object], [created, [created], 'ADDED', created]);
  assert.equal(created.metadata.resourceVersion, String(server.store.revision));
  const partial = await server.fetch(`${MAPS}/a`, { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } });
  assert.deepEqual((await partial.json()).metadata, created.metadata);
});

test('a value that was stored with its fields in another order is shown as well', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const value = { metadata: { name: 'old', namespace: 'default' }, kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } };
  const { revision } = await server.store.write({ key: 'core/configmaps/default/old', value });
  const shown = { ...value, metadata: { ...value.metadata, resourceVersion: String(revision) } };
  assert.deepEqual([await get(server, `${MAPS}/old`), (await get(server, MAPS)).items], [shown, [shown]]);
});

test('an event is shown under the names of the version that was asked for, whichever it was written in', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const body = JSON.stringify({ metadata: { name: 'e' }, involvedObject: { namespace: 'default' }, message: 'm', reason: 'r' });
  assert.equal((await server.fetch('/api/v1/namespaces/default/events', { method: 'POST', headers: json(), body })).status, 201);
  const old = await get(server, '/api/v1/namespaces/default/events/e');
  const newer = await get(server, '/apis/events.k8s.io/v1/namespaces/default/events/e');
  assert.deepEqual([old.apiVersion, old.message, newer.apiVersion, newer.note], ['v1', 'm', 'events.k8s.io/v1', 'm']);
  assert.deepEqual(newer.metadata, old.metadata);
});

function json() {
  return { 'content-type': 'application/json' };
}

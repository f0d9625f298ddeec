import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../../../api/core/configmap.ts';
import { PODS } from '../../../api/core/pod.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';

type List = { metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }; items: ConfigMap[] };

function map(name: string, labels: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', labels } };
}

async function withMaps(...names: string[]): Promise<TestServer> {
  const server = await startTestServer();
  for (const name of names) await server.client.create(CONFIG_MAPS, map(name, { letter: name }));
  return server;
}

async function list({ fetch }: TestServer, query: string): Promise<List> {
  return (await (await fetch(`${MAPS}?${query}`)).json()) as List;
}

function names({ items }: List): string[] {
  return items.map(({ metadata }) => metadata.name);
}

test('pages show one snapshot, whatever happens between them', async (t) => {
  const server = await withMaps('a', 'b', 'c', 'd', 'e');
  t.after(server.close);
  const first = await list(server, 'limit=2');
  assert.deepEqual([names(first), first.metadata.remainingItemCount], [['a', 'b'], 3]);
  await server.client.delete(CONFIG_MAPS, { namespace: 'default', name: 'c' });
  await server.client.create(CONFIG_MAPS, map('bb'));
  const second = await list(server, `limit=2&continue=${first.metadata.continue}`);
  assert.deepEqual([names(second), second.metadata.resourceVersion], [['c', 'd'], first.metadata.resourceVersion]);
  const third = await list(server, `limit=2&continue=${second.metadata.continue}`);
  assert.deepEqual([names(third), third.metadata.continue], [['e'], undefined]);
});

test('a continue token that is not ours is refused', async (t) => {
  const server = await withMaps();
  t.after(server.close);
  assert.equal((await server.fetch(`${MAPS}?continue=abc`)).status, 400);
});

test('a continue token from before the history is Expired', async (t) => {
  const server = await startTestServer({ historySize: 5 });
  t.after(server.close);
  for (const name of ['a', 'b', 'c']) await server.client.create(CONFIG_MAPS, map(name));
  const first = await list(server, 'limit=1');
  for (let i = 0; i < 10; i += 1) await server.client.patch(CONFIG_MAPS, { namespace: 'default', name: 'a' }, { data: { i: String(i) } });
  const answer = await server.fetch(`${MAPS}?limit=1&continue=${first.metadata.continue}`);
  assert.deepEqual([answer.status, ((await answer.json()) as { reason: string }).reason], [410, 'Expired']);
});

test('an exact earlier state can be read, a future one cannot', async (t) => {
  const server = await withMaps('a');
  t.after(server.close);
  const { metadata } = await list(server, '');
  await server.client.create(CONFIG_MAPS, map('b'));
  assert.deepEqual(names(await list(server, `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`)), ['a']);
  assert.deepEqual(names(await list(server, `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`)), ['a', 'b']);
  assert.equal((await server.fetch(`${MAPS}?resourceVersion=999999`)).status, 504);
  assert.equal((await server.fetch(`${MAPS}?resourceVersionMatch=Exact`)).status, 422);
});

test('selectors select, and bad ones are refused', async (t) => {
  const server = await withMaps('a', 'b', 'c');
  t.after(server.close);
  assert.deepEqual(names(await list(server, 'labelSelector=letter in (a,b)')), ['a', 'b']);
  assert.deepEqual(names(await list(server, 'labelSelector=letter!=a')), ['b', 'c']);
  assert.deepEqual(names(await list(server, 'fieldSelector=metadata.name=b')), ['b']);
  assert.equal((await server.fetch(`${MAPS}?labelSelector=a=b=c`)).status, 400);
  const unsupported = await server.fetch(`${MAPS}?fieldSelector=spec.x=1`);
  assert.match(
    ((await unsupported.json()) as { message: string }).message,
    /"spec\.x" is not a known field selector: only "metadata.name", "metadata.namespace"/,
  );
});

test('Pods can be selected by node', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  for (const node of ['n1', 'n2']) {
    const spec = { nodeName: node, containers: [{ name: 'c', image: 'i' }] };
    await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: node, namespace: 'default' }, spec });
  }
  const { items } = await client.list(PODS, { fieldSelector: 'spec.nodeName=n2,status.phase!=Failed' });
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['n2'],
  );
});

test('lists come as tables and as metadata when asked for', async (t) => {
  const server = await withMaps('a');
  t.after(server.close);
  const table = (await (await server.fetch(MAPS, { headers: { accept: TABLE } })).json()) as {
    kind: string;
    rows: { cells: unknown[]; object: { kind: string; metadata: { name: string } } }[];
  };
  assert.equal(table.kind, 'Table');
  assert.deepEqual([table.rows[0]?.cells[0], table.rows[0]?.object.kind], ['a', 'PartialObjectMetadata']);
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
  const partial = (await (await server.fetch(MAPS, { headers: { accept } })).json()) as { kind: string; items: object[] };
  assert.equal(partial.kind, 'PartialObjectMetadataList');
  assert.deepEqual(Object.keys(partial.items[0] ?? {}), ['kind', 'apiVersion', 'metadata']);
});

test('what cannot be given is NotAcceptable', async (t) => {
  const server = await withMaps();
  t.after(server.close);
  assert.equal((await server.fetch(MAPS, { headers: { accept: 'text/html' } })).status, 406);
  assert.equal((await server.fetch(MAPS, { headers: { accept: 'application/vnd.kubernetes.protobuf, */*' } })).status, 200);
});

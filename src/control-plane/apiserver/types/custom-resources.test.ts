import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../api/meta.ts';
import type { Resource } from '../../../api/resource.ts';
import { isApiError } from '../../../base/errors.ts';
import { timeoutSignal } from '../../../base/timeout-signal.ts';
import { startTestServer } from '../test-server.testing.ts';

type Crd = KubeObject & {
  readonly kind: 'CustomResourceDefinition';
  readonly spec: object;
  readonly status?: { conditions: { type: string; status: string; reason: string }[]; storedVersions: string[]; acceptedNames: object };
};
type Widget = KubeObject & {
  readonly kind: 'Widget';
  readonly spec?: { size?: number; color?: string; replicas?: number };
  readonly status?: { ready?: boolean };
};

const CRDS: Resource<Crd> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  isNamespaced: false,
};
const WIDGETS: Resource<Widget> = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', isNamespaced: true };
const OLD_WIDGETS: Resource<Widget> = { ...WIDGETS, version: 'v1alpha1' };
const A = { namespace: 'default', name: 'a' };

function version(name: string, more: object = {}) {
  const spec = {
    type: 'object',
    properties: { size: { type: 'integer', minimum: 1 }, color: { type: 'string', default: 'red' }, replicas: { type: 'integer' } },
  };
  const status = { type: 'object', properties: { ready: { type: 'boolean' }, replicas: { type: 'integer' } } };
  return {
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    ...more,
  };
}

function crd(versions: object[] = [version('v1'), version('v1alpha1')], names: object = {}): Crd {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'], ...names },
      versions,
    },
  };
}

function widget(spec: Widget['spec'] = {}, more: object = {}): Widget {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', namespace: 'default' }, spec, ...more };
}

test('a definition is in force when its create returns', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  const { status } = await client.create(CRDS, crd());
  assert.deepEqual(
    status?.conditions.map(({ type, status: each, reason }) => [type, each, reason]),
    [
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
    ],
  );
  assert.deepEqual(status.storedVersions, ['v1']);
  assert.deepEqual(status.acceptedNames, {
    plural: 'widgets',
    singular: 'widget',
    kind: 'Widget',
    listKind: 'WidgetList',
    shortNames: ['wd'],
    categories: ['all'],
  });
  const created = await client.create(WIDGETS, widget({ size: 3 }));
  assert.deepEqual([created.spec, created.metadata.generation], [{ size: 3, color: 'red' }, 1]);
  const { preferredVersion } = (await (await fetch('/apis/example.com')).json()) as { preferredVersion: object };
  assert.deepEqual(preferredVersion, { groupVersion: 'example.com/v1', version: 'v1' });
});

test('unknown fields are pruned and rules of the schema hold', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  const created = await client.create(WIDGETS, { ...widget(), spec: { size: 1, weight: 2 } as object });
  assert.deepEqual(created.spec, { size: 1, color: 'red' });
  await assert.rejects(client.patch(WIDGETS, A, { spec: { size: 0 } }), (error) => {
    assert.ok(isApiError(error, 'Invalid'));
    assert.match(
      error.message,
      /^Widget.example.com "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1$/,
    );
    return true;
  });
});

test('every served version shows every object', async (t) => {
  const { client, store, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  await client.create(OLD_WIDGETS, { ...widget({ size: 2 }), apiVersion: 'example.com/v1alpha1' });
  assert.equal((await client.get(WIDGETS, A))?.apiVersion, 'example.com/v1');
  assert.equal((await client.get(OLD_WIDGETS, A))?.apiVersion, 'example.com/v1alpha1');
  assert.equal(store.get('example.com/widgets/default/a')?.value['apiVersion'], 'example.com/v1');
});

test('status has a subresource of its own, which changes nothing else', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  const created = await client.create(WIDGETS, widget({ size: 1 }, { status: { ready: true } }));
  assert.equal(created.status, undefined);
  const patch = { status: { ready: true }, spec: { size: 9 }, metadata: { labels: { a: 'b' } } };
  const ready = await client.patch(WIDGETS, A, patch, { subresource: 'status' });
  assert.deepEqual([ready.status, ready.spec?.size, ready.metadata.labels, ready.metadata.generation], [{ ready: true }, 1, undefined, 1]);
  const grown = await client.patch(WIDGETS, A, { spec: { size: 2 }, status: { ready: false } });
  assert.deepEqual([grown.status, grown.metadata.generation], [{ ready: true }, 2]);
});

test('an update needs a version, and a strategic merge patch is not for custom kinds', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  await client.create(WIDGETS, widget());
  await assert.rejects(
    client.update(WIDGETS, widget({ size: 1 })),
    /metadata.resourceVersion: Invalid value: 0x0: must be specified for an update/,
  );
  await assert.rejects(client.patch(WIDGETS, A, { spec: {} }, { type: 'strategic' }), (error) => isApiError(error, 'UnsupportedMediaType'));
});

test('custom kinds scale, and print their own columns', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  await client.create(WIDGETS, widget({ size: 4 }));
  const headers = { 'content-type': 'application/merge-patch+json' };
  const scaled = await fetch('/apis/example.com/v1/namespaces/default/widgets/a/scale', {
    method: 'PATCH',
    headers,
    body: '{"spec":{"replicas":5}}',
  });
  assert.deepEqual(((await scaled.json()) as { spec: object }).spec, { replicas: 5 });
  assert.equal((await client.get(WIDGETS, A))?.spec?.replicas, 5);
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const table = (await (await fetch('/apis/example.com/v1/widgets', { headers: { accept } })).json()) as {
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[] }[];
  };
  assert.deepEqual(
    [table.columnDefinitions.map(({ name }) => name), table.rows[0]?.cells],
    [
      ['Name', 'Size'],
      ['a', 4],
    ],
  );
});

test('a definition that is not structural is refused', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const broken = version('v1', { schema: { openAPIV3Schema: { type: 'object', properties: { spec: { properties: {} } } } } });
  await assert.rejects(client.create(CRDS, crd([broken])), (error) => isApiError(error, 'Invalid'));
});

test('a name that somebody else has is not accepted', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  const other = crd([version('v1')], { plural: 'gadgets', kind: 'Widget', shortNames: ['gd'] });
  const { status } = await client.create(CRDS, { ...other, metadata: { name: 'gadgets.example.com' } });
  assert.deepEqual(
    status?.conditions.map(({ type, status: each }) => [type, each]),
    [
      ['NamesAccepted', 'False'],
      ['Established', 'False'],
    ],
  );
  await assert.rejects(client.list({ ...WIDGETS, plural: 'gadgets' }), (error) => isApiError(error, 'NotFound'));
});

test('a change of shape ends the watches of the kind, a change of status does not', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  await client.create(WIDGETS, widget());
  const seen: string[] = [];
  for await (const { type } of client.watch(WIDGETS)) {
    seen.push(type);
    if (seen.length > 1) break;
    await client.patch(CRDS, { name: 'widgets.example.com' }, { metadata: { labels: { a: 'b' } } });
    await client.patch(WIDGETS, A, { spec: { size: 2 } });
  }
  assert.deepEqual(seen, ['ADDED', 'MODIFIED']);
  let count = 0;
  for await (const _ of client.watch(WIDGETS)) {
    count += 1;
    await client.patch(CRDS, { name: 'widgets.example.com' }, { spec: { versions: [version('v1')] }, status: { storedVersions: ['v1'] } });
  }
  assert.equal(count, 1);
});

test('a version that objects may be stored in cannot be removed', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  const next = version('v2', { storage: true });
  await client.patch(CRDS, { name: 'widgets.example.com' }, { spec: { versions: [version('v1', { storage: false }), next] } });
  await assert.rejects(client.patch(CRDS, { name: 'widgets.example.com' }, { spec: { versions: [next] } }), /status.storedVersions/);
});

test('deleting a definition deletes its instances, finalizers respected', async (t) => {
  const { client, store, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  await client.create(WIDGETS, { ...widget(), metadata: { name: 'a', namespace: 'default', finalizers: ['example.com/hold'] } });
  await client.create(WIDGETS, { ...widget(), metadata: { name: 'b', namespace: 'kube-public' } });
  const events = client.watch(CRDS, { signal: timeoutSignal(5000) });
  await client.delete(CRDS, { name: 'widgets.example.com' });
  await assert.rejects(client.create(WIDGETS, { ...widget(), metadata: { name: 'c', namespace: 'default' } }), (error) =>
    isApiError(error, 'MethodNotAllowed'),
  );
  for await (const { type, object } of events) {
    if (type === 'DELETED') break;
    if (object.metadata.deletionTimestamp && (await client.get(WIDGETS, A)))
      await client.patch(WIDGETS, A, { metadata: { finalizers: [] } });
  }
  assert.deepEqual(store.list('example.com/widgets/'), []);
  await assert.rejects(client.list(WIDGETS), (error) => isApiError(error, 'NotFound'));
});

test('custom kinds are there again after a restart of the server', async (t) => {
  const { client, store, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd());
  await client.create(WIDGETS, widget({ size: 7 }));
  const { createApiServer } = await import('../create-api-server.ts');
  const { systemClock } = await import('../../../base/clock.ts');
  const { silentLogger } = await import('../../../base/log.ts');
  const again = await createApiServer({ store, clock: systemClock, log: silentLogger });
  t.after(() => again.close());
  const answer = await again.handle(new Request('https://x/apis/example.com/v1/widgets'), { user: 'a', groups: ['system:masters'] });
  assert.equal(((await answer.json()) as { items: object[] }).items.length, 1);
});

test('what a stricter definition refuses can be labelled and let go of, and be written only when it is mended', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CRDS, crd([version('v1')]));
  await client.create(WIDGETS, widget({ size: 1, color: 'blue' }, { metadata: { ...A, finalizers: ['example.com/keep'] } }));
  const smaller = { type: 'object', properties: { size: { type: 'integer', minimum: 5 }, color: { type: 'string', default: 'red' } } };
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: smaller, status: { type: 'object', properties: { ready: { type: 'boolean' } } } },
    },
  };
  await client.patch(
    CRDS,
    { name: 'widgets.example.com' },
    { spec: { versions: [version('v1', { schema, subresources: { status: {} } })] } },
  );

  const labelled = await client.patch(WIDGETS, A, { metadata: { labels: { a: 'b' } } });
  assert.deepEqual([labelled.metadata.labels, labelled.spec], [{ a: 'b' }, { size: 1, color: 'blue' }]);
  const ready = await client.patch(WIDGETS, A, { status: { ready: true } }, { subresource: 'status' });
  assert.deepEqual(ready.status, { ready: true });
  await assert.rejects(client.patch(WIDGETS, A, { status: { ready: 'yes' } }, { subresource: 'status' }), /status\.ready/);
  await assert.rejects(client.patch(WIDGETS, A, { spec: { color: 'green' } }), /spec\.size.*greater than or equal to 5/);
  await assert.rejects(client.update(WIDGETS, { ...ready, metadata: { ...ready.metadata, labels: {} } }), /spec\.size/);
  await client.delete(WIDGETS, A);
  await client.patch(WIDGETS, A, { metadata: { finalizers: null } });
  assert.equal(await client.get(WIDGETS, A), undefined);
});

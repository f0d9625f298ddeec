import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../../../api/core/configmap.ts';
import { LEASES } from '../../../api/core/lease.ts';
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { ApiError, isApiError } from '../../../base/errors.ts';
import { startTestServer } from '../test-server.testing.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const IN_DEFAULT = { namespace: 'default', name: 'a' };

function map(name: string, more: Partial<ConfigMap> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, ...more };
}

function pod(name: string, spec: Partial<Pod['spec']> = {}): Pod {
  const containers = [{ name: 'c', image: 'i' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec: { containers, ...spec } };
}

function json(method: string, body: unknown, contentType = 'application/json'): RequestInit {
  return { method, headers: { 'content-type': contentType }, body: JSON.stringify(body) };
}

/** The status of a refused request, without what every failure has. */
async function refusal(answer: Promise<Response>): Promise<{ code: number; reason: string; message: string; causes?: unknown }> {
  const { code, reason, message, details } = (await (await answer).json()) as {
    code: number;
    reason: string;
    message: string;
    details?: { causes?: unknown };
  };
  return { code, reason, message, ...(details?.causes !== undefined && { causes: details.causes }) };
}

test('generateName gives every object a name of its own', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const created = await Promise.all(
    Array.from({ length: 1000 }, () =>
      client.create(CONFIG_MAPS, { ...map(''), metadata: { name: '', generateName: 'm-', namespace: 'default' } }),
    ),
  );
  assert.equal(new Set(created.map(({ metadata }) => metadata.name)).size, 1000);
  assert.match(created[0]!.metadata.name, /^m-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('an object without a name, with a bad name, or in a namespace that is not there is refused', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  assert.deepEqual(await refusal(fetch(MAPS, json('POST', map('')))), {
    code: 422,
    reason: 'Invalid',
    message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    causes: [{ reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field: 'metadata.name' }],
  });
  const bad = await refusal(fetch(MAPS, json('POST', map('Not_A_Name'))));
  assert.match(
    bad.message,
    /^ConfigMap "Not_A_Name" is invalid: metadata.name: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain/,
  );
  assert.deepEqual(await refusal(fetch('/api/v1/namespaces/nowhere/configmaps', json('POST', { metadata: { name: 'a' } }))), {
    code: 404,
    reason: 'NotFound',
    message: 'namespaces "nowhere" not found',
  });
});

test('a body that contradicts its URL is refused', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  assert.equal((await refusal(fetch(MAPS, json('POST', { ...map('a'), kind: 'Secret' })))).reason, 'BadRequest');
  assert.equal(
    (await refusal(fetch(MAPS, json('POST', { ...map('a'), metadata: { name: 'a', namespace: 'other' } })))).reason,
    'BadRequest',
  );
  assert.equal((await refusal(fetch(`${MAPS}/b`, json('PUT', map('a'))))).reason, 'BadRequest');
});

test('a body may leave out its kind and its content type', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const body = new TextEncoder().encode(JSON.stringify({ metadata: { name: 'a' } }));
  const response = await fetch(MAPS, { method: 'POST', body });
  assert.equal(response.status, 201);
  assert.equal(((await response.json()) as ConfigMap).kind, 'ConfigMap');
});

test('YAML is read and written', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' };
  const response = await fetch(MAPS, { method: 'POST', headers, body: 'metadata:\n  name: a\ndata:\n  k: v\n' });
  assert.equal(response.headers.get('content-type'), 'application/yaml');
  assert.match(await response.text(), /^data:\n {2}k: v$/m);
});

test('false protobuf, unknown types, oversized, deep and broken bodies are refused', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const codes = await Promise.all(
    [
      json('POST', map('a'), 'application/vnd.kubernetes.protobuf'),
      json('POST', map('a'), 'application/cbor'),
      json('POST', map('a', { data: { big: 'x'.repeat(3 * 1024 * 1024) } })),
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}` },
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a"' },
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '[]' },
    ].map(async (init) => (await fetch(MAPS, init)).status),
  );
  assert.deepEqual(codes, [400, 415, 413, 400, 400, 400]);
});

test('a stale resourceVersion is a Conflict in the words of Kubernetes', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const first = await client.create(CONFIG_MAPS, map('a'));
  await client.update(CONFIG_MAPS, { ...first, data: { n: '1' } });
  await assert.rejects(client.update(CONFIG_MAPS, { ...first, data: { n: '2' } }), (error) => {
    assert.ok(isApiError(error, 'Conflict'));
    assert.equal(
      error.message,
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    );
    assert.deepEqual(error.details, { name: 'a', kind: 'configmaps' });
    return true;
  });
  await assert.rejects(
    client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { resourceVersion: first.metadata.resourceVersion }, data: { n: '3' } }),
    (error) => isApiError(error, 'Conflict'),
  );
});

test('patches without a version never conflict and none is lost', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(CONFIG_MAPS, map('a'));
  await Promise.all(Array.from({ length: 40 }, (_, i) => client.patch(CONFIG_MAPS, IN_DEFAULT, { data: { [`k${i}`]: 'v' } })));
  assert.equal(Object.keys((await client.get(CONFIG_MAPS, IN_DEFAULT))?.data ?? {}).length, 40);
});

test('of many updates with one version exactly one wins', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  let current = await client.create(CONFIG_MAPS, map('a'));
  for (let round = 0; round < 20; round += 1) {
    const results = await Promise.allSettled(
      [0, 1, 2].map((i) => client.update(CONFIG_MAPS, { ...current, data: { round: `${round}-${i}` } })),
    );
    const won = results.filter((result) => result.status === 'fulfilled');
    assert.equal(won.length, 1);
    current = won[0]!.value;
  }
});

test('a write that changes nothing makes no revision', async (t) => {
  const { client, store, close } = await startTestServer();
  t.after(close);
  const created = await client.create(CONFIG_MAPS, map('a', { data: { k: 'v' } }));
  const { revision } = store;
  assert.deepEqual(await client.update(CONFIG_MAPS, created), created);
  assert.deepEqual(await client.patch(CONFIG_MAPS, IN_DEFAULT, { data: { k: 'v' } }), created);
  assert.equal(store.revision, revision);
});

test('the identity of an object cannot be changed', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const created = await client.create(CONFIG_MAPS, map('a'));
  const changed = await client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { creationTimestamp: '2000-01-01T00:00:00Z', generation: 7 } });
  assert.deepEqual(changed, created);
  await assert.rejects(client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { uid: 'x' } }), (error) => isApiError(error, 'Conflict'));
  await assert.rejects(client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { name: 'b' } }), (error) => isApiError(error, 'BadRequest'));
});

test('managedFields that somebody made up hinder nobody who writes, and go when they are sent empty', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  const managedFields = [
    { manager: 'kubelet', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:k': {} } } },
  ];
  const forged = { ...map('a', { data: { k: 'v' } }), metadata: { ...IN_DEFAULT, managedFields } };
  assert.equal((await fetch(MAPS, json('POST', forged))).status, 201);
  assert.equal((await client.get(CONFIG_MAPS, IN_DEFAULT))?.metadata.managedFields, undefined);
  await client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { managedFields } });
  const changed = await client.patch(CONFIG_MAPS, IN_DEFAULT, { data: { k: 'w' } });
  assert.deepEqual([changed.data, changed.metadata.managedFields?.map(({ manager }) => manager)], [{ k: 'w' }, ['test']]);
  const forgotten = await client.patch(CONFIG_MAPS, IN_DEFAULT, { metadata: { managedFields: [{}] } });
  assert.equal(forgotten.metadata.managedFields, undefined);
});

test('kinds that always want a version refuse an update without one', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' as const, metadata: { name: 'a', namespace: 'default' }, spec: {} };
  await client.create(LEASES, lease);
  await assert.rejects(client.update(LEASES, lease), /metadata.resourceVersion: Invalid value: 0x0: must be specified for an update/);
  await assert.doesNotReject(client.create(CONFIG_MAPS, map('a')));
  await assert.doesNotReject(client.update(CONFIG_MAPS, map('a', { data: { k: 'v' } })));
});

test('status is changed through its subresource only, and changes no generation', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(PODS, pod('a'));
  const ignored = await client.patch(PODS, IN_DEFAULT, { status: { phase: 'Running' } });
  assert.equal(ignored.status?.phase, 'Pending');
  const running = await client.patch(
    PODS,
    IN_DEFAULT,
    { status: { phase: 'Running' }, spec: { nodeName: 'n' } },
    { subresource: 'status' },
  );
  assert.deepEqual([running.status?.phase, running.spec.nodeName, running.metadata.generation], ['Running', undefined, 1]);
  const changed = await client.patch(PODS, IN_DEFAULT, { spec: { activeDeadlineSeconds: 5 } });
  assert.equal(changed.metadata.generation, 2);
});

test('the spec of a Pod is fixed', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(PODS, pod('a'));
  for (const spec of [{ hostname: 'x' }, { nodeName: 'n' }]) {
    await assert.rejects(client.patch(PODS, IN_DEFAULT, { spec }), /spec: Forbidden: pod updates may not change fields/);
  }
});

test('dryRun shows the result and stores nothing', async (t) => {
  const { fetch, client, store, close } = await startTestServer();
  t.after(close);
  const { revision } = store;
  assert.equal((await fetch(`${MAPS}?dryRun=All`, json('POST', map('a')))).status, 201);
  assert.equal(await client.get(CONFIG_MAPS, IN_DEFAULT), undefined);
  assert.equal(store.revision, revision);
  await client.create(CONFIG_MAPS, map('a'));
  const patched = await fetch(`${MAPS}/a?dryRun=All`, json('PATCH', { data: { k: 'v' } }, 'application/merge-patch+json'));
  assert.deepEqual(((await patched.json()) as ConfigMap).data, { k: 'v' });
  assert.equal((await client.get(CONFIG_MAPS, IN_DEFAULT))?.data, undefined);
  assert.equal((await refusal(fetch(`${MAPS}?dryRun=Some`, json('POST', map('b'))))).code, 422);
});

test('unknown fields are refused, warned about or dropped, as the client wishes', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const body = { ...map('a'), nonsense: 1, metadata: { name: 'a', sense: 2 } };
  assert.deepEqual(await refusal(fetch(`${MAPS}?fieldValidation=Strict`, json('POST', body))), {
    code: 400,
    reason: 'BadRequest',
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.sense", unknown field "nonsense"',
  });
  const warned = await fetch(`${MAPS}?dryRun=All`, json('POST', body));
  assert.equal(warned.headers.get('warning'), '299 - "unknown field \\"metadata.sense\\"", 299 - "unknown field \\"nonsense\\""');
  assert.equal('nonsense' in ((await warned.json()) as object), false);
  assert.equal((await fetch(`${MAPS}?fieldValidation=Ignore`, json('POST', body))).headers.get('warning'), null);
});

test('bad labels are refused with every cause, a wrong type of a built-in kind as unreadable', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const labels = await refusal(fetch(MAPS, json('POST', { metadata: { name: 'a', labels: { 'a b': 'ok', ok: 'not ok!' } } })));
  assert.deepEqual(
    (labels.causes as { field: string }[]).map(({ field }) => field),
    ['metadata.labels', 'metadata.labels'],
  );
  const typed = await refusal(
    fetch('/api/v1/namespaces/default/pods', json('POST', { metadata: { name: 'a' }, spec: { containers: 'none' } })),
  );
  assert.equal(typed.code, 400);
});

test('a terminating namespace takes nothing new', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  const held = map('held');
  await client.create(CONFIG_MAPS, { ...held, metadata: { ...held.metadata, namespace: 'team', finalizers: ['example.com/hold'] } });
  await client.delete(NAMESPACES, { name: 'team' });
  await assert.rejects(client.create(CONFIG_MAPS, { ...held, metadata: { name: 'new', namespace: 'team' } }), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(
      error.message,
      'configmaps "new" is forbidden: unable to create new content in namespace team because it is being terminated',
    );
    assert.equal(error.details?.causes?.[0]?.reason, 'NamespaceTerminating');
    return true;
  });
});

test('a Pod is bound to a node once', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  await client.create(PODS, pod('a'));
  const path = '/api/v1/namespaces/default/pods/a/binding';
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } };
  assert.equal((await fetch(path, json('POST', binding))).status, 201);
  const bound = await client.get(PODS, IN_DEFAULT);
  assert.deepEqual([bound?.spec.nodeName, bound?.status?.conditions?.[0]?.type], ['n1', 'PodScheduled']);
  assert.match((await refusal(fetch(path, json('POST', binding)))).message, /already assigned to node "n1"/);
});

test('a Deployment is scaled through its scale', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const created = await fetch(path, json('POST', { metadata: { name: 'a' }, spec: { selector: { matchLabels: { app: 'a' } }, template } }));
  assert.equal(created.status, 201);
  const scaled = await fetch(`${path}/a/scale`, json('PATCH', { spec: { replicas: 3 } }, 'application/merge-patch+json'));
  const { kind, spec, status } = (await scaled.json()) as { kind: string; spec: object; status: object };
  assert.deepEqual({ kind, spec, status }, { kind: 'Scale', spec: { replicas: 3 }, status: { replicas: 0, selector: 'app=a' } });
  const deployment = (await (await fetch(`${path}/a`)).json()) as { spec: { replicas: number }; metadata: { generation: number } };
  assert.deepEqual([deployment.spec.replicas, deployment.metadata.generation], [3, 2]);
});

test('a Service gets an address and keeps it when a client leaves it out', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const path = '/api/v1/namespaces/default/services';
  const spec = { selector: { app: 'a' }, ports: [{ port: 80 }], type: 'NodePort' };
  type Service = { spec: { clusterIP: string; ports: { nodePort: number }[] } };
  const created = (await (await fetch(path, json('POST', { metadata: { name: 'a' }, spec }))).json()) as Service;
  assert.match(created.spec.clusterIP, /^10\.(9[6-9]|10\d|11[01])\./);
  assert.ok(created.spec.ports[0]!.nodePort >= 30000);
  const updated = (await (
    await fetch(`${path}/a`, json('PUT', { metadata: { name: 'a' }, spec: { ...spec, ports: [{ port: 81 }] } }))
  ).json()) as Service;
  assert.equal(updated.spec.clusterIP, created.spec.clusterIP);
});

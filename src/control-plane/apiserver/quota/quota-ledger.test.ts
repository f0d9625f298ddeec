import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CONFIG_MAPS } from '../../../api/core/configmap.ts';
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { RESOURCE_QUOTAS, type ResourceQuota } from '../../../api/core/resource-quota.ts';
import { SERVICES } from '../../../api/core/service.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../api/core/volume.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { outcome } from '../access/rights.testing.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

let api: TestServer;
before(async () => {
  api = await startTestServer();
});
after(() => api.close());

let namespaces = 0;
/** A namespace of its own for each test, with one quota. */
async function withQuota(hard: Record<string, string>, spec: object = {}): Promise<string> {
  namespaces += 1;
  const namespace = `q${namespaces}`;
  await api.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await api.client.create(RESOURCE_QUOTAS, quota(namespace, hard, spec));
  return namespace;
}

function quota(namespace: string, hard: Record<string, string>, spec: object = {}): ResourceQuota {
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace }, spec: { hard, ...spec } };
}

function pod(namespace: string, name: string, resources: object = {}, spec: object = {}): Pod {
  const containers = [{ name: 'c', image: 'i', resources }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { containers, ...spec } };
}

function map(namespace: string, name: string) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } } as const;
}

/** Resolves with the `used` of the quota as soon as it is this. */
async function untilUsed(namespace: string, expected: Record<string, string>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const key = `core/resourcequotas/${namespace}/q`;
  const wanted = JSON.stringify(Object.entries(expected).sort());
  const look = () => {
    const { status } = (api.store.get(key)?.value ?? {}) as Partial<ResourceQuota>;
    if (JSON.stringify(Object.entries(status?.used ?? {}).sort()) === wanted) resolve();
  };
  const stop = api.store.watch(key, api.store.revision, look);
  look();
  await promise;
  stop();
}

describe('a ResourceQuota', { timeout: 30_000 }, () => {
  test('lets in what there is room for, and says what is used when there is none', async () => {
    const namespace = await withQuota({ pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi' });
    const small = { requests: { cpu: '600m' }, limits: { memory: '256Mi' } };
    await api.client.create(PODS, pod(namespace, 'a', small));
    assert.equal(
      await outcome(api.client.create(PODS, pod(namespace, 'b', small))),
      'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    );
    await untilUsed(namespace, { pods: '1', 'requests.cpu': '600m', 'limits.memory': '256Mi' });
  });

  test('names every resource of which there is too little', async () => {
    const namespace = await withQuota({ pods: '0', memory: '64Mi' });
    assert.equal(
      await outcome(api.client.create(PODS, pod(namespace, 'a', { limits: { memory: '128Mi' } }))),
      'pods "a" is forbidden: exceeded quota: q, requested: memory=128Mi,pods=1, used: memory=0,pods=0, limited: memory=64Mi,pods=0',
    );
  });

  test('of cpu or memory wants every container to say how much', async () => {
    const namespace = await withQuota({ 'limits.cpu': '1', 'requests.memory': '1Gi' });
    assert.equal(
      await outcome(api.client.create(PODS, pod(namespace, 'a', { requests: { memory: '1Mi' } }))),
      'pods "a" is forbidden: failed quota: q: must specify limits.cpu for: c',
    );
  });

  test('is never exceeded by creates that come at once', async () => {
    const namespace = await withQuota({ pods: '10', 'count/configmaps': '101' }); // every namespace has a ConfigMap of its own
    await api.client.create(CONFIG_MAPS, map(namespace, 'kube-root-ca.crt'));
    const [pods, maps] = await Promise.all([
      Promise.all(Array.from({ length: 60 }, (_, i) => outcome(api.client.create(PODS, pod(namespace, `p${i}`))))),
      Promise.all(Array.from({ length: 200 }, (_, i) => outcome(api.client.create(CONFIG_MAPS, map(namespace, `m${i}`))))),
    ]);
    assert.deepEqual(
      [pods, maps].map((all) => all.filter((each) => each === 'ok').length),
      [10, 100],
    );
    await untilUsed(namespace, { pods: '10', 'count/configmaps': '101' });
  });

  test('gives room back at once: of what was refused by its name, of what ended and of what is gone', async () => {
    const namespace = await withQuota({ pods: '2', 'count/pods': '3' });
    await api.client.create(PODS, pod(namespace, 'a'));
    await Promise.all(Array.from({ length: 5 }, () => outcome(api.client.create(PODS, pod(namespace, 'a')))));
    await api.client.create(PODS, pod(namespace, 'b'));
    await api.client.patch(PODS, { namespace, name: 'a' }, { status: { phase: 'Succeeded' } }, { subresource: 'status' });
    await api.client.create(PODS, pod(namespace, 'c'));
    assert.match(
      await outcome(api.client.create(PODS, pod(namespace, 'd'))),
      /exceeded quota: q, requested: count\/pods=1,pods=1, used: count\/pods=3,pods=2,/,
    );
    await api.client.delete(PODS, { namespace, name: 'b' });
    assert.equal(await outcome(api.client.create(PODS, pod(namespace, 'd'))), 'ok');
    await untilUsed(namespace, { pods: '2', 'count/pods': '3' });
  });

  test('counts what was there before it, and follows a change of its own', async () => {
    const namespace = await withQuota({ secrets: '5' });
    await api.client.create(PODS, pod(namespace, 'a'));
    await api.client.patch(RESOURCE_QUOTAS, { namespace, name: 'q' }, { spec: { hard: { secrets: null, pods: '1' } } });
    assert.match(await outcome(api.client.create(PODS, pod(namespace, 'b'))), /exceeded quota/);
    await untilUsed(namespace, { pods: '1' });
  });

  test('is asked when a claim grows or a Service takes ports of the node', async () => {
    const namespace = await withQuota({ 'requests.storage': '2Gi', persistentvolumeclaims: '5', 'services.nodeports': '1' });
    await api.client.create(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'disk', namespace },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    const growing = api.client.patch(
      PERSISTENT_VOLUME_CLAIMS,
      { namespace, name: 'disk' },
      { spec: { resources: { requests: { storage: '3Gi' } } } },
    );
    assert.match(await outcome(growing), /requested: requests.storage=2Gi, used: requests.storage=1Gi, limited: requests.storage=2Gi/);
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', namespace } } as const;
    const ports = [{ name: 'a', port: 1 }, { name: 'b', port: 2 }]; // biome-ignore format: one line
    await api.client.create(SERVICES, { ...service, spec: { ports } });
    const opening = api.client.patch(SERVICES, { namespace, name: 's' }, { spec: { type: 'NodePort' } });
    assert.match(await outcome(opening), /exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0/);
  });

  test('with scopes counts the Pods that they match, and nothing else', async () => {
    const namespace = await withQuota({ pods: '0', 'count/configmaps': '0' }, { scopes: ['BestEffort'] });
    assert.match(await outcome(api.client.create(PODS, pod(namespace, 'a'))), /exceeded quota/);
    assert.equal(await outcome(api.client.create(PODS, pod(namespace, 'b', { requests: { cpu: '1m' } }))), 'ok');
    assert.equal(await outcome(api.client.create(CONFIG_MAPS, map(namespace, 'm'))), 'ok');
  });

  test('counts custom kinds and those of groups by count/PLURAL.GROUP', async () => {
    const namespace = await withQuota({ 'count/leases.coordination.k8s.io': '1' });
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const lease = (name: string): KubeObject => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name } });
    const send = async (name: string, query = '') =>
      (
        await api.fetch(`${path}${query}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(lease(name)),
        })
      ).status;
    assert.deepEqual(
      [await send('a', '?dryRun=All'), await send('a'), await send('b', '?dryRun=All'), await send('b')],
      [201, 201, 403, 403],
    );
  });

  test('that makes no sense is refused', async () => {
    const bad = quota('default', { pods: '1500m', cpu: '-1' });
    await assert.rejects(api.client.create(RESOURCE_QUOTAS, bad), /spec.hard\[pods\].*must be an integer.*spec.hard\[cpu\].*greater/);
  });
});

test('a Pod costs as much to admit where hundreds are counted as where few are', { timeout: 60_000 }, async () => {
  const namespace = await withQuota({ pods: '5000', 'requests.cpu': '5000' });
  const asked = { requests: { cpu: '1m' } };
  const cpuOf = async (from: number, count: number) => {
    const before = process.cpuUsage();
    for (let i = from; i < from + count; i++) await api.client.create(PODS, pod(namespace, `p${i}`, asked));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  };
  await cpuOf(0, 100); // warm
  const few = await cpuOf(100, 100);
  await Promise.all(Array.from({ length: 500 }, (_, i) => api.client.create(PODS, pod(namespace, `p${i + 200}`, asked))));
  const many = await cpuOf(700, 100);
  assert.ok(many < few * 4, `${few} µs with 100 to 200 Pods, ${many} µs with 700 to 800`);
});

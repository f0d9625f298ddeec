import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS } from '../../../api/core/configmap.ts';
import { LEASES } from '../../../api/core/lease.ts';
import { NODES } from '../../../api/core/node.ts';
import { PODS } from '../../../api/core/pod.ts';
import { SECRETS } from '../../../api/core/secret.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../api/core/volume.ts';
import type { Resource } from '../../../api/resource.ts';
import { startTestServer } from '../test-server.testing.ts';
import { outcome } from './rights.testing.ts';

test('a node writes its own Node, lease and Pods, and those of no other', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  const node = clientAs('system:node:n1', ['system:nodes']);
  for (const name of ['n1', 'n2']) {
    await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const spec = { nodeName: name, containers: [{ name: 'c', image: 'i' }] };
    await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec });
  }
  const label = { metadata: { labels: { a: 'b' } } };
  const status = { status: { message: 'x' } };
  const lease = (namespace: string, name: string) =>
    node.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec: {} });
  const pod = (name: string) => ({ namespace: 'default', name });
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] };

  const allowed = [
    node.patch(NODES, { name: 'n1' }, label),
    node.patch(NODES, { name: 'n1' }, { status: { phase: 'Running' } }, { subresource: 'status' }),
    node.patch(PODS, pod('n1'), status, { subresource: 'status' }),
    lease('kube-node-lease', 'n1'),
  ];
  assert.deepEqual(await Promise.all(allowed.map(outcome)), ['ok', 'ok', 'ok', 'ok']);
  const refused = [
    node.patch(NODES, { name: 'n2' }, label),
    node.patch(NODES, { name: 'n2' }, { status: { phase: 'Running' } }, { subresource: 'status' }),
    node.patch(PODS, pod('n2'), status, { subresource: 'status' }),
    node.delete(PODS, pod('n2')),
    node.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'new', namespace: 'default' }, spec }),
    lease('kube-node-lease', 'n2'),
    lease('kube-system', 'n1'),
  ];
  for (const message of await Promise.all(refused.map(outcome))) assert.match(message, /is forbidden: node "n1" /);
  assert.equal(await outcome(node.delete(PODS, pod('n1'))), 'ok');
});

test('a node reads the Secrets and ConfigMaps that its Pods mount, and no others', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  for (const name of ['mine', 'theirs', 'nobodys']) {
    await client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' } });
    await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
  }
  for (const [nodeName, name] of [
    ['n1', 'mine'],
    ['n2', 'theirs'],
  ] as const) {
    const volumes = [
      { name: 's', secret: { secretName: name } },
      { name: 'c', projected: { sources: [{ configMap: { name } }] } },
    ];
    const spec = { nodeName, containers: [{ name: 'c', image: 'i' }], volumes };
    await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: nodeName, namespace: 'default' }, spec });
  }
  const node = clientAs('system:node:n1', ['system:nodes']);
  for (const resource of [SECRETS, CONFIG_MAPS] as Resource[]) {
    assert.equal(await outcome(node.get(resource, { namespace: 'default', name: 'mine' })), 'ok');
    for (const name of ['theirs', 'nobodys']) {
      assert.match(await outcome(node.get(resource, { namespace: 'default', name })), /no relationship found between node "n1"/);
    }
    assert.match(await outcome(node.list(resource)), /forbidden/);
  }
});

test('a node reads claims of its Pods and the volumes that belong to them, and no others', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  const claim = (name: string, volumeName: string) =>
    client.create(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } }, volumeName },
    });
  const volume = (name: string, claimName: string) =>
    client.create(PERSISTENT_VOLUMES, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Mi' },
        hostPath: { path: '/x' },
        claimRef: { namespace: 'default', name: claimName },
      },
    });
  await Promise.all([claim('mine', 'v-mine'), claim('greedy', 'v-theirs'), claim('theirs', 'v-theirs')]);
  await Promise.all([volume('v-mine', 'mine'), volume('v-theirs', 'theirs'), volume('v-free', 'nobodys')]);
  const volumes = ['mine', 'greedy'].map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i', args: ['theirs'] }], volumes };
  await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default' }, spec });
  const node = clientAs('system:node:n1', ['system:nodes']);
  assert.equal(await outcome(node.get(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default', name: 'mine' })), 'ok');
  assert.equal(await outcome(node.get(PERSISTENT_VOLUMES, { name: 'v-mine' })), 'ok');
  const refused = [
    node.get(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default', name: 'theirs' }),
    node.get(PERSISTENT_VOLUMES, { name: 'v-theirs' }),
    node.get(PERSISTENT_VOLUMES, { name: 'v-free' }),
    node.list(PERSISTENT_VOLUMES),
    node.list(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default' }),
  ];
  for (const message of await Promise.all(refused.map(outcome))) assert.match(message, /forbidden/);
});

test('a Pod that only mentions a Secret gives its node none', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  await client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'victim', namespace: 'default' } });
  const spec = {
    nodeName: 'n1',
    hostname: 'victim',
    containers: [{ name: 'victim', image: 'victim', args: ['victim'], env: [{ name: 'victim', value: 'victim' }] }],
    volumes: [{ name: 'victim', configMap: { name: 'victim' } }],
  };
  await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'victim', namespace: 'default' }, spec });
  const node = clientAs('system:node:n1', ['system:nodes']);
  assert.match(await outcome(node.get(SECRETS, { namespace: 'default', name: 'victim' })), /no relationship found/);
});

test('a mirror Pod is no way to what the node has nothing to do with', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  const node = clientAs('system:node:n1', ['system:nodes']);
  await client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'victim', namespace: 'default' } });
  const mirror = (name: string, more: object = {}, container: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod' as const,
    metadata: { name, namespace: 'default', annotations: { 'kubernetes.io/config.mirror': 'x' } },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i', ...container }], ...more },
  });
  const refused = [
    mirror('a', { volumes: [{ name: 'v', secret: { secretName: 'victim' } }] }),
    mirror('b', { volumes: [{ name: 'v', configMap: { name: 'victim' } }] }),
    mirror('c', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'victim' } }] }),
    mirror('d', { volumes: [{ name: 'v', projected: { sources: [] } }] }),
    mirror('e', { serviceAccountName: 'mighty' }),
    mirror('f', { imagePullSecrets: [{ name: 'victim' }] }),
    mirror('g', {}, { env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'victim', key: 'k' } } }] }),
    mirror('h', {}, { envFrom: [{ secretRef: { name: 'victim' } }] }),
  ];
  for (const pod of refused) assert.match(await outcome(node.create(PODS, pod)), /can not create mirror Pods that reference/);
  assert.equal(await outcome(node.create(PODS, mirror('ok', {}, { args: ['victim'] }))), 'ok');
  assert.match(await outcome(node.get(SECRETS, { namespace: 'default', name: 'victim' })), /no relationship found/);
});

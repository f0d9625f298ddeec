/** The requests by which scripts written for KubeVirt clean up and wait, to the real API server of the embedded cluster. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { KINDS } from '../../src/api/kubevirt/kinds-table.ts';
import { applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer, type TestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { publishedCollections } from '../e2e/published-collections.ts';

const CRDS = join(import.meta.dirname, '../../deploy/crds');
const VMI = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';
const MIGRATION = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancemigrations';
const POD = '/api/v1/namespaces/default/pods';
const EVENT = '/api/v1/namespaces/default/events';
const HELD = { finalizers: ['tests.example.com/held'] };
const DELETE_OPTIONS = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background', gracePeriodSeconds: 0 };

/** How clients take finalizers away. */
const STRIPS: readonly (readonly [type: string, patch: unknown])[] = [
  ['application/json-patch+json', [{ op: 'remove', path: '/metadata/finalizers' }]],
  ['application/json-patch+json', [{ op: 'replace', path: '/metadata/finalizers', value: [] }]],
  ['application/merge-patch+json', { metadata: { finalizers: null } }],
  ['application/merge-patch+json', { metadata: { finalizers: [] } }],
];

describe('requests of scripts that clean up and wait', { timeout: 120_000 }, () => {
  let api: TestServer;
  before(async () => {
    api = await startTestServer();
    await applyManifests(api.client, CRDS, (object) => object);
  });
  after(() => api.close());

  const ask = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const answer = await api.fetch(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': type } }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const vmi = (name: string) => ({
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { name, ...HELD }, spec: { domain: { devices: {} } } },
  });
  const migration = (name: string) => ({
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceMigration', metadata: { name, ...HELD }, spec: { vmiName: 'x' } },
  });

  test('the table has every kind that KubeVirt publishes and that can be cleaned up', () => {
    const ours = ['OfflineVirtualMachine', 'VirtualMachineInstanceConfig'];
    const published = KINDS.filter(({ kind }) => kind !== 'KubeVirt' && !ours.includes(kind));
    const table = publishedCollections('default').map(({ plural }) => plural);
    assert.deepEqual(table.sort(), published.map(({ plural }) => plural).sort());
  });

  for (const { path } of publishedCollections('default')) {
    test(`DELETE ${path}, as often as one likes, and lists and watches after it`, async () => {
      for (const body of [undefined, DELETE_OPTIONS]) assert.equal((await ask('DELETE', path, body)).status, 200);
      assert.equal((await ask('DELETE', `${path}?labelSelector=a%3Db&timeoutSeconds=30`)).status, 200);
      const { status, body } = await ask('GET', path);
      assert.deepEqual([status, body.items], [200, []]);
      const watch = await api.fetch(`${path}?watch=true&resourceVersion=${body.metadata.resourceVersion}`);
      assert.equal(watch.status, 200);
      await watch.body?.cancel();
    });
  }

  for (const [collection, made] of [
    [VMI, vmi],
    [MIGRATION, migration],
  ] as const)
    for (const [index, [type, patch]] of STRIPS.entries())
      test(`an object that its finalizer holds goes by ${type} ${JSON.stringify(patch)} at ${collection}`, async () => {
        assert.equal((await ask('POST', collection, made(`held-${index}`))).status, 201);
        assert.equal((await ask('DELETE', collection)).status, 200);
        const held = await ask('GET', `${collection}/held-${index}`);
        assert.ok(held.body.metadata.deletionTimestamp, 'it waits');
        assert.equal((await ask('PATCH', `${collection}/held-${index}`, patch, type)).status, 200);
        assert.equal((await ask('GET', `${collection}/held-${index}`)).status, 404);
      });

  test('a Pod of a node goes at once by a deletion without grace', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    };
    assert.equal((await ask('POST', POD, pod)).status, 201);
    assert.equal((await ask('DELETE', `${POD}/p`)).status, 200);
    assert.equal((await ask('GET', `${POD}/p`)).status, 200, 'its node has not ended it');
    assert.equal((await ask('DELETE', `${POD}/p`, { gracePeriodSeconds: 0 })).status, 200);
    assert.equal((await ask('GET', `${POD}/p`)).status, 404);
  });

  test('Events are found and watched by the object that they are about', async () => {
    const event = (of: string, reason: string) => ({
      ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: `${of}.${reason.toLowerCase()}` }, type: 'Normal', reason, message: reason },
      involvedObject: { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', namespace: 'default', name: of, uid: `uid-of-${of}` },
    });
    for (const name of ['a', 'b']) assert.equal((await ask('POST', EVENT, event(name, 'Created'))).status, 201);
    const selectors = ['involvedObject.name=a', 'involvedObject.kind=VirtualMachineInstance,involvedObject.uid=uid-of-a', 'type=Normal,reason=Created,involvedObject.name=a']; // biome-ignore format: a list
    for (const selector of selectors) {
      const { body } = await ask('GET', `${EVENT}?fieldSelector=${encodeURIComponent(selector)}`);
      assert.deepEqual(
        body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
        ['a.created'],
        selector,
      );
    }
    const { body: list } = await ask('GET', EVENT);
    const watch = api.fetch(
      `${EVENT}?watch=true&resourceVersion=${list.metadata.resourceVersion}&timeoutSeconds=2&fieldSelector=${encodeURIComponent('involvedObject.name=a')}`,
    );
    for (const name of ['b', 'a']) assert.equal((await ask('POST', EVENT, event(name, 'Started'))).status, 201);
    const lines = (await (await watch).text()).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => [JSON.parse(line).type, JSON.parse(line).object.metadata.name]),
      [['ADDED', 'a.started']],
    );
  });
});

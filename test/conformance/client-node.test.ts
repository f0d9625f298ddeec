import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  type ObjectCache,
  PatchStrategy,
  type V1ConfigMap,
  VersionApi,
} from '@kubernetes/client-node';
import { restartRenaming } from './changed-while-away.ts';
import { Cluster } from './cluster.ts';
import { eventually } from './eventually.ts';
import { WIDGET_CRD, widget } from './manifests.ts';

/** The usual JavaScript client, as its users have it. */
describe('@kubernetes/client-node', { timeout: 180_000 }, () => {
  let cluster: Cluster;
  let config: KubeConfig;
  let core: CoreV1Api;
  before(async () => {
    cluster = await Cluster.start();
    config = new KubeConfig();
    config.loadFromFile(cluster.kubeconfig);
    core = config.makeApiClient(CoreV1Api);
  });
  after(() => cluster[Symbol.asyncDispose]());

  const configMap = (name: string, value: string): V1ConfigMap => ({ metadata: { name }, data: { value } });
  const makeNamespace = (name: string) => core.createNamespace({ body: { metadata: { name } } });

  test('objects are created, read, listed, replaced, patched and deleted', async () => {
    await makeNamespace('crud');
    const made = await core.createNamespacedConfigMap({ namespace: 'crud', body: configMap('a', '1') });
    assert.ok(made.metadata?.creationTimestamp instanceof Date);
    const replaced = await core.replaceNamespacedConfigMap({ namespace: 'crud', name: 'a', body: { ...made, data: { value: '2' } } });
    await assert.rejects(core.replaceNamespacedConfigMap({ namespace: 'crud', name: 'a', body: made }), { code: 409 });
    const patch = [{ op: 'replace', path: '/data/value', value: '3' }];
    const patched = await core.patchNamespacedConfigMap({ namespace: 'crud', name: 'a', body: patch });
    assert.deepEqual([replaced.data, patched.data], [{ value: '2' }, { value: '3' }]);
    const { items } = await core.listNamespacedConfigMap({ namespace: 'crud', fieldSelector: 'metadata.name=a' });
    assert.deepEqual(
      items.map(({ data }) => data),
      [{ value: '3' }],
    );
    await core.deleteNamespacedConfigMap({ namespace: 'crud', name: 'a' });
    await assert.rejects(core.readNamespacedConfigMap({ namespace: 'crud', name: 'a' }), { code: 404 });
  });

  test('a lease, the version, and kinds that are known by name alone', async () => {
    const leases = config.makeApiClient(CoordinationV1Api);
    const lease = await leases.createNamespacedLease({
      namespace: 'default',
      body: { metadata: { name: 'l' }, spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } },
    });
    assert.equal(lease.spec?.holderIdentity, 'me');
    assert.match((await config.makeApiClient(VersionApi).getCode()).gitVersion, /^v1\.3\d/);
    await cluster.must(['create', '-f', cluster.file('crd.json', WIDGET_CRD)]); // this client drops the word `default` from schemas
    const objects = KubernetesObjectApi.makeApiClient(config);
    await objects.create({ ...widget('w'), metadata: { name: 'w', namespace: 'default' } } as KubernetesObject);
    const change = { ...widget('w', { size: 9 }), metadata: { name: 'w', namespace: 'default' } } as KubernetesObject;
    await objects.patch(change, undefined, undefined, undefined, undefined, PatchStrategy.MergePatch);
    const custom = config.makeApiClient(CustomObjectsApi);
    const found = await custom.getNamespacedCustomObject({
      group: 'ex.io',
      version: 'v1',
      namespace: 'default',
      plural: 'widgets',
      name: 'w',
    });
    assert.deepEqual(found.spec, { size: 9, replicas: 1 });
  });

  test('an informer sees what is there, then each change once and in order', async () => {
    await makeNamespace('informed');
    await core.createNamespacedConfigMap({ namespace: 'informed', body: configMap('first', '0') });
    await using informed = await inform('informed');
    assert.deepEqual(informed.words, ['add first 0']);
    await core.createNamespacedConfigMap({ namespace: 'informed', body: configMap('b', '1') });
    for (const value of ['2', '3']) {
      const patch = [{ op: 'replace', path: '/data/value', value }];
      await core.patchNamespacedConfigMap({ namespace: 'informed', name: 'b', body: patch });
    }
    await core.deleteNamespacedConfigMap({ namespace: 'informed', name: 'b' });
    await informed.hears('delete b 3');
    assert.deepEqual(informed.words, ['add first 0', 'add b 1', 'update b 2', 'update b 3', 'delete b 3']);
    assert.equal(informed.cache.get('b', 'informed'), undefined);
  });

  test('an informer goes on after a restart of the server, without a second word about what it knows', async () => {
    await makeNamespace('restarted');
    await core.createNamespacedConfigMap({ namespace: 'restarted', body: configMap('a', '1') });
    await using informed = await inform('restarted');
    await cluster.restart();
    await core.createNamespacedConfigMap({ namespace: 'restarted', body: configMap('b', '2') });
    await informed.hears('add b 2');
    assert.deepEqual(informed.words, ['add a 1', 'add b 2']);
  });

  test('an informer that comes back with a forgotten version is told 410 and lists again', async () => {
    await makeNamespace('forgotten');
    for (const name of ['kept', 'old']) await core.createNamespacedConfigMap({ namespace: 'forgotten', body: configMap(name, '1') });
    await using informed = await inform('forgotten');
    const before = informed.lists;
    await restartRenaming(cluster, 'forgotten', ['old', 'new']);
    await informed.hears('add new 1');
    assert.ok(informed.words.includes('delete old 1'));
    assert.equal(informed.lists, before + 1);
    assert.deepEqual(
      informed.cache
        .list('forgotten')
        .map(({ metadata }) => metadata?.name)
        .filter((name) => name !== OF_EVERY_NAMESPACE)
        .sort(),
      ['kept', 'new'],
    );
  });

  /** An informer of the ConfigMaps of a namespace that has started; it is started again after a broken connection, as its document says. */
  async function inform(namespace: string) {
    const informed = new Informed(config, core, namespace);
    await informed.start();
    return informed;
  }
});

/** Comes when it comes. */
const OF_EVERY_NAMESPACE = 'kube-root-ca.crt';

class Informed implements AsyncDisposable {
  readonly words: string[] = [];
  lists = 0;
  readonly cache: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;
  #isOver = false;

  constructor(config: KubeConfig, core: CoreV1Api, namespace: string) {
    const list = () => {
      this.lists += 1;
      return core.listNamespacedConfigMap({ namespace });
    };
    this.cache = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
    for (const word of ['add', 'update', 'delete'] as const) {
      this.cache.on(word, ({ metadata, data }) => {
        if (metadata?.name !== OF_EVERY_NAMESPACE) this.words.push(`${word} ${metadata?.name} ${data?.['value']}`);
      });
    }
    this.cache.on('error', () => {
      if (!this.#isOver) setTimeout(() => void this.cache.start().catch(() => {}), 50);
    });
  }

  start(): Promise<void> {
    return this.cache.start();
  }

  hears(word: string): Promise<void> {
    return eventually(
      () => this.words.includes(word),
      () => `${word} among ${this.words.join(', ')}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.cache.stop();
  }
}

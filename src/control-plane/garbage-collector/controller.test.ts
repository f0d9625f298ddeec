import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../../api/core/configmap.ts';
import { EVENTS } from '../../api/core/event.ts';
import { SECRETS } from '../../api/core/secret.ts';
import { controllerReferenceTo, type KubeObject, type ObjectMeta, type OwnerReference } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import type { DeleteOptions } from '../../client/client.ts';
import { until } from '../../testing/until.ts';
import { startTestServer } from '../apiserver/test-server.testing.ts';
import { runGarbageCollector } from './controller.ts';

const NAMESPACE = 'default';
const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  isNamespaced: false,
};
const WIDGETS: Resource = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', isNamespaced: true };

async function start(t: TestContext) {
  const { client, close } = await startTestServer();
  t.after(close);
  return {
    client,
    collect() {
      const stop = new AbortController();
      const ended = runGarbageCollector({ client, clock: systemClock, log: silentLogger, signal: stop.signal });
      const end = async () => {
        stop.abort();
        await ended;
      };
      t.after(end);
      return end;
    },
    /** A ConfigMap, owned by these. */
    add: (name: string, owners: readonly KubeObject[] = [], metadata: Partial<ObjectMeta> = {}) =>
      client.create(CONFIG_MAPS, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: NAMESPACE, name, ownerReferences: owners.map(referenceTo), ...metadata },
      } satisfies ConfigMap),
    get: (name: string) => client.get(CONFIG_MAPS, { namespace: NAMESPACE, name }),
    remove: (name: string, propagationPolicy?: DeleteOptions['propagationPolicy']) =>
      client.delete(CONFIG_MAPS, { namespace: NAMESPACE, name }, { propagationPolicy }),
    isGone: (name: string) =>
      until(async () => (await client.get(CONFIG_MAPS, { namespace: NAMESPACE, name })) === undefined, `${name} to go`),
  };
}

function referenceTo(owner: KubeObject): OwnerReference {
  return { ...controllerReferenceTo(owner), controller: false };
}

test('a deleted owner takes its whole tree with it, and nothing else', async (t) => {
  const { collect, add, get, remove, isGone } = await start(t);
  collect();
  const root = await add('root');
  const child = await add('child', [root]);
  await add('grandchild', [child]);
  await add('stranger', [await add('other')]);
  await remove('root');
  await isGone('child');
  await isGone('grandchild');
  assert.ok(await get('stranger'));
});

test('what lost its owner while nobody watched goes too', async (t) => {
  const { collect, add, get, remove, isGone } = await start(t);
  const first = await add('owner');
  await add('orphan', [first]);
  await remove('owner');
  await add('owner'); // the same name, another object
  collect();
  await isGone('orphan');
  assert.ok(await get('owner'));
});

test('one of several owners that goes is forgotten, the last one takes it along', async (t) => {
  const { collect, add, get, remove, isGone } = await start(t);
  collect();
  const [one, two] = [await add('one'), await add('two')];
  await add('shared', [one, two]);
  await remove('one');
  await until(async () => (await get('shared'))?.metadata.ownerReferences?.length === 1, 'the dead owner to be forgotten');
  assert.deepEqual((await get('shared'))?.metadata.ownerReferences, [referenceTo(two)]);
  await remove('two');
  await isGone('shared');
});

test('in the foreground the owner stays until its blocking dependents are gone', async (t) => {
  const { client, collect, add, get, remove, isGone } = await start(t);
  collect();
  const owner = await add('owner');
  await add('held', [owner], { finalizers: ['example.com/hold'] });
  await add('quick', [owner]);
  await remove('owner', 'Foreground');
  await isGone('quick');
  await until(async () => (await get('held'))?.metadata.deletionTimestamp !== undefined, 'the deletion of the one that is held');
  assert.deepEqual((await get('owner'))?.metadata.finalizers, ['foregroundDeletion']);
  await client.patch(CONFIG_MAPS, { namespace: NAMESPACE, name: 'held' }, { metadata: { finalizers: null } });
  await isGone('held');
  await isGone('owner');
});

test('in the foreground a circle of owners does not wait for itself', async (t) => {
  const { client, collect, add, remove, isGone } = await start(t);
  const one = await add('one');
  const two = await add('two', [one]);
  await client.patch(CONFIG_MAPS, { namespace: NAMESPACE, name: 'one' }, { metadata: { ownerReferences: [referenceTo(two)] } });
  collect();
  await remove('one', 'Foreground');
  await isGone('one');
  await isGone('two');
});

test('an orphaning deletion leaves the dependents, without the reference', async (t) => {
  const { collect, add, get, remove, isGone } = await start(t);
  collect();
  const owner = await add('owner');
  await add('kept', [owner]);
  await remove('owner', 'Orphan');
  await isGone('owner');
  assert.equal((await get('kept'))?.metadata.ownerReferences, undefined);
});

test('an orphaning deletion that was begun before a restart is finished after it', async (t) => {
  const { collect, add, get, remove, isGone } = await start(t);
  const owner = await add('owner');
  await add('kept', [owner]);
  const end = collect();
  await end();
  await remove('owner', 'Orphan');
  collect();
  await isGone('owner');
  assert.equal((await get('kept'))?.metadata.ownerReferences, undefined);
});

test('an owner in another namespace is none', async (t) => {
  const { client, collect, add } = await start(t);
  collect();
  const owner = await add('owner');
  const away = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'kube-system', name: 'away', ownerReferences: [referenceTo(owner)] },
  } as const;
  await client.create(SECRETS, away);
  await until(async () => (await client.get(SECRETS, away.metadata)) === undefined, 'the misplaced object to go');
  await until(async () => (await client.list(EVENTS)).items.some(({ reason }) => reason === 'OwnerRefInvalidNamespace'), 'the event');
});

test('an owner of a kind that is not served keeps what it owns', async (t) => {
  const { collect, add, get, remove, isGone } = await start(t);
  collect();
  await add('kept', [{ apiVersion: 'example.com/v1', kind: 'Riddle', metadata: { name: 'r', uid: 'no-such-uid' } }]);
  await add('marker', [await add('owner')]);
  await remove('owner');
  await isGone('marker'); // made later, so the other was looked at too
  assert.ok(await get('kept'));
});

test('a kind defined later is minded, as owner and as owned', async (t) => {
  const { client, collect, add, isGone } = await start(t);
  collect();
  await isGone('nothing');
  await client.create(CRDS, definitionOf(WIDGETS));
  const widget = (name: string, owners: readonly KubeObject[]) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { namespace: NAMESPACE, name, ownerReferences: owners.map(referenceTo) },
  });
  const isServed = () =>
    client.list(WIDGETS).then(
      () => true,
      () => false,
    );
  await until(isServed, 'the new kind');
  const owner = await client.create(WIDGETS, widget('owner', []));
  const owned = await client.create(WIDGETS, widget('owned', [owner]));
  await add('below', [owned]);
  await client.delete(WIDGETS, owner.metadata);
  await until(async () => (await client.get(WIDGETS, owned.metadata)) === undefined, 'the owned widget to go');
  await isGone('below');
});

function definitionOf({ group, version, plural, kind }: Resource): KubeObject & { spec: object } {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
}

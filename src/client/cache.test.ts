import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../api/core/configmap.ts';
import { silentLogger } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { quiet, until } from '../testing/until.ts';
import { type Cache, startCache } from './cache.ts';

const LIST = 'GET /api/v1/configmaps';
const WATCH = `${LIST}?resourceVersion=`;

function configMap(name: string, resourceVersion: string, options: { uid?: string; labels?: Record<string, string> } = {}): ConfigMap {
  const { uid = `uid-${name}`, labels } = options;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name, uid, resourceVersion, labels } };
}

function start(t: TestContext, onState?: (isCurrent: boolean) => void) {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const stop = new AbortController();
  t.after(() => stop.abort());
  const cache = startCache({
    client: api.client,
    resource: CONFIG_MAPS,
    indexes: { colour: (object) => (object.metadata.labels?.['colour'] ? [object.metadata.labels['colour']] : []) },
    clock,
    log: silentLogger,
    signal: stop.signal,
    ...(onState && { onState }),
  });
  const told: string[] = [];
  cache.subscribe((change) => told.push(`${change.type} ${change.key}@${change.object.metadata.resourceVersion}`));
  return { api, clock, stop, cache, told, shows: () => shows(cache) };
}

function shows(cache: Cache<ConfigMap>): string[] {
  return cache.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
}

/** Moves time until the next request has come: back-off has a random part. */
async function untilAsked({ api, clock }: { api: ScriptedApi; clock: FakeClock }, requests: number): Promise<void> {
  await until(() => {
    clock.advance(1_000);
    return api.seen.length >= requests;
  }, `request ${requests}`);
}

test('a list and a watch become one copy, and subscribers are told every change', async (t) => {
  const { api, cache, told, shows } = start(t);
  await api.list([configMap('a', '1')], '5');
  const watch = await api.watch();
  await cache.synced;
  watch.send('ADDED', configMap('b', '6'));
  watch.send('MODIFIED', configMap('a', '7'));
  watch.send('DELETED', configMap('b', '8'));
  await until(() => told.length === 4);
  assert.deepEqual(told, ['added ns/a@1', 'added ns/b@6', 'modified ns/a@7', 'deleted ns/b@8']);
  assert.deepEqual(shows(), ['a@7']);
  assert.deepEqual(api.seen, [LIST, `${WATCH}5&watch=true&allowWatchBookmarks=true`]);
});

test('whoever shows the copy is told when it may be old, and everything is listed again', async (t) => {
  const states: boolean[] = [];
  const { api, clock } = start(t, (isCurrent) => states.push(isCurrent));
  await api.list([], '5');
  await api.breakConnection();
  await until(() => states.length === 2);
  await untilAsked({ api, clock }, 3);
  assert.equal(api.seen[2], LIST);
  await api.list([], '6');
  await until(() => states.length === 3);
  assert.deepEqual(states, [true, false, true]);
});

test('who wrote which field is not kept', async (t) => {
  const { api, cache, told } = start(t);
  const written = (name: string, version: string) => {
    const object = configMap(name, version);
    return {
      ...object,
      metadata: {
        ...object.metadata,
        managedFields: [{ manager: 'kubectl', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} } as const],
      },
    };
  };
  await api.list([written('a', '1')], '5');
  const watch = await api.watch();
  await cache.synced;
  watch.send('ADDED', written('b', '6'));
  await until(() => told.length === 2);
  assert.deepEqual(
    cache.list().map(({ metadata }) => 'managedFields' in metadata),
    [false, false],
  );
});

test('a watch that ends is resumed from the last version seen, bookmarks included', async (t) => {
  const { api, clock, told } = start(t);
  await api.list([], '5');
  const watch = await api.watch();
  watch.send('ADDED', configMap('a', '6'));
  watch.send('BOOKMARK', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '99' } });
  await until(() => told.length === 1);
  watch.end();
  await quiet();
  await untilAsked({ api, clock }, 3);
  assert.equal(api.seen[2], `${WATCH}99&watch=true&allowWatchBookmarks=true`);
});

for (const [how, expire] of [
  [
    'as an event',
    async (api: ScriptedApi) => (await api.watch()).send('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }),
  ],
  ['as a status', (api: ScriptedApi) => api.refuse('Expired', 410)],
] as const) {
  test(`history that is gone, told ${how}, is made up for by a list and the difference`, async (t) => {
    const { api, clock, told, shows } = start(t);
    await api.list([configMap('gone', '1'), configMap('same', '2'), configMap('changed', '3'), configMap('remade', '4')], '5');
    await expire(api);
    await quiet();
    await untilAsked({ api, clock }, 3);
    told.length = 0;
    await api.list(
      [configMap('same', '2'), configMap('changed', '8'), configMap('remade', '9', { uid: 'other' }), configMap('new', '10')],
      '11',
    );
    await until(() => told.length >= 5);
    assert.deepEqual(told, ['deleted ns/gone@1', 'modified ns/changed@8', 'deleted ns/remade@4', 'added ns/remade@9', 'added ns/new@10']);
    assert.deepEqual(shows(), ['same@2', 'changed@8', 'remade@9', 'new@10']);
  });
}

test('no failure stops it: refused, unreachable, cut off in mid-stream', async (t) => {
  const { api, clock, cache, shows } = start(t);
  await api.refuse('Forbidden', 403);
  await quiet();
  await untilAsked({ api, clock }, 2);
  await api.breakConnection();
  await quiet();
  await untilAsked({ api, clock }, 3);
  await api.list([configMap('a', '1')], '5');
  await cache.synced;
  (await api.watch()).fail(new TypeError('terminated'));
  await quiet();
  await untilAsked({ api, clock }, 5);
  (await api.watch()).send('ADDED', configMap('b', '6'));
  await until(() => shows().length === 2);
  assert.deepEqual(shows(), ['a@1', 'b@6']);
});

test('a server that is down is asked ever less often, and a watch that keeps failing is given up for a list', async (t) => {
  const { api, clock } = start(t);
  await api.list([], '5');
  for (let failure = 0; failure < 5; failure++) {
    await api.breakConnection();
    await quiet();
    clock.advance(1_600);
  }
  await until(() => api.seen.length === 7);
  assert.deepEqual(
    api.seen.map((line) => line === LIST),
    [true, false, false, false, false, false, true],
  );
});

test('a connection that says nothing for ten minutes is replaced', async (t) => {
  const { api, clock } = start(t);
  await api.list([], '5');
  await api.watch();
  await quiet();
  clock.advance(600_000);
  await until(() => api.seen.length === 3);
  assert.equal(api.seen[2], `${WATCH}5&watch=true&allowWatchBookmarks=true`);
});

test('a list that is never answered is asked for again', async (t) => {
  const { api, clock } = start(t);
  await until(() => api.seen.length === 1);
  await quiet();
  clock.advance(60_000);
  await quiet();
  await untilAsked({ api, clock }, 2);
  assert.deepEqual(api.seen, [LIST, LIST]);
});

test('a subscriber that throws stops neither the others nor the cache', async (t) => {
  const { api, cache, told } = start(t);
  cache.subscribe(() => {
    throw new Error('mine');
  });
  const late: string[] = [];
  cache.subscribe(({ key }) => late.push(key));
  await api.list([configMap('a', '1'), configMap('b', '2')], '5');
  await cache.synced;
  assert.deepEqual(told, ['added ns/a@1', 'added ns/b@2']);
  assert.deepEqual(late, ['ns/a', 'ns/b']);
});

test('who subscribes later hears of what is there, who left hears nothing', async (t) => {
  const { api, cache } = start(t);
  await api.list([configMap('a', '1')], '5');
  const watch = await api.watch();
  await cache.synced;
  const heard: string[] = [];
  const leave = cache.subscribe(({ type, key }) => heard.push(`${type} ${key}`));
  leave();
  watch.send('ADDED', configMap('b', '6'));
  await until(() => cache.get('ns/b') !== undefined);
  assert.deepEqual(heard, ['added ns/a']);
});

test('indexes follow changes and deletions', async (t) => {
  const { api, cache } = start(t);
  await api.list([configMap('a', '1', { labels: { colour: 'red' } }), configMap('b', '2', { labels: { colour: 'red' } })], '5');
  const watch = await api.watch();
  await cache.synced;
  const named = (colour: string) => cache.byIndex('colour', colour).map(({ metadata }) => metadata.name);
  assert.deepEqual(named('red'), ['a', 'b']);
  watch.send('MODIFIED', configMap('a', '6', { labels: { colour: 'blue' } }));
  watch.send('DELETED', configMap('b', '7', { labels: { colour: 'green' } }));
  await until(() => cache.get('ns/b') === undefined);
  assert.deepEqual([named('red'), named('blue'), named('green')], [[], ['a'], []]);
  for (const name of ['c', 'd']) watch.send('ADDED', configMap(name, name === 'c' ? '8' : '9', { labels: { colour: 'blue' } }));
  await until(() => cache.get('ns/d') !== undefined);
  assert.deepEqual(named('blue'), ['a', 'c', 'd'], 'one that was alone under its value is still there');
  watch.send('DELETED', configMap('a', '10'));
  watch.send('DELETED', configMap('d', '11'));
  await until(() => cache.get('ns/d') === undefined);
  assert.deepEqual(named('blue'), ['c']);
  assert.throws(() => cache.byIndex('shape', 'round'), /there is no index shape; there are: colour/);
});

test('an abort before the first list rejects those who wait for it and ends the work', async (t) => {
  const { api, stop, cache } = start(t);
  await until(() => api.seen.length === 1);
  stop.abort();
  await assert.rejects(cache.synced, { name: 'AbortError' });
  assert.deepEqual(api.seen, [LIST]);
});

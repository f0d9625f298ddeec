import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../../../api/core/configmap.ts';
import { isApiError } from '../../../base/errors.ts';
import { readLines } from '../../../client/lines.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { liveBytes } from '../../../testing/live-bytes.ts';
import { grant } from '../access/rights.testing.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

type Event = {
  type: string;
  object: ConfigMap & { rows?: { cells: unknown[] }[]; columnDefinitions?: unknown[]; code?: number; reason?: string };
};

function map(name: string, labels: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', labels } };
}

function at(name: string) {
  return { namespace: 'default', name };
}

async function* watch({ fetch }: TestServer, query: string, init: RequestInit = {}): AsyncIterable<Event> {
  const response = await fetch(`${MAPS}?watch=true&${query}`, init);
  assert.equal(response.status, 200);
  for await (const line of readLines(response.body)) yield JSON.parse(line) as Event;
}

async function take(events: AsyncIterable<Event>, count: number): Promise<Event[]> {
  const taken: Event[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

function short({ type, object }: Event): string {
  return `${type} ${object.metadata?.name ?? object.metadata?.resourceVersion}`;
}

test('a watch from a revision gets exactly what came after it', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const first = await server.client.create(CONFIG_MAPS, map('a'));
  await server.client.create(CONFIG_MAPS, map('b'));
  await server.client.delete(CONFIG_MAPS, at('a'));
  const events = await take(watch(server, `resourceVersion=${first.metadata.resourceVersion}`), 2);
  assert.deepEqual(events.map(short), ['ADDED b', 'DELETED a']);
  const [added, deleted] = events.map(({ object }) => Number(object.metadata.resourceVersion));
  assert.equal(deleted, added! + 1); // a deletion shows its own revision
});

test('a large object comes whole and in its place, to each who watches, with letters of more than one byte', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const watches = [1, 2, 3].map(() => take(watch(server, 'resourceVersion=0'), 5));
  const value = 'ü€😀x'.repeat(30_000);
  await server.client.create(CONFIG_MAPS, map('before'));
  const large = await server.client.create(CONFIG_MAPS, { ...map('large'), data: { value } });
  await server.client.update(CONFIG_MAPS, { ...large, data: { value: `${value}!` } });
  await server.client.create(CONFIG_MAPS, map('after'));
  await server.client.delete(CONFIG_MAPS, at('large'));
  for (const events of await Promise.all(watches)) {
    assert.deepEqual(events.map(short), ['ADDED before', 'ADDED large', 'MODIFIED large', 'ADDED after', 'DELETED large']);
    const values = events.map(({ object }) => object.data?.['value']);
    assert.deepEqual(
      values.map((each) => each === value || (each === `${value}!` ? 'changed' : each)),
      [undefined, true, 'changed', undefined, 'changed'],
    );
  }
});

test('an object that enters a selection is ADDED, one that leaves it is DELETED', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const { revision } = server.store;
  await server.client.create(CONFIG_MAPS, map('a', { on: 'no' }));
  await server.client.patch(CONFIG_MAPS, at('a'), { metadata: { labels: { on: 'yes' } } });
  await server.client.patch(CONFIG_MAPS, at('a'), { data: { k: 'v' } });
  await server.client.patch(CONFIG_MAPS, at('a'), { metadata: { labels: { on: 'no' } } });
  await server.client.delete(CONFIG_MAPS, at('a'));
  await server.client.create(CONFIG_MAPS, map('end', { on: 'yes' }));
  const events = await take(watch(server, `labelSelector=on=yes&resourceVersion=${revision}`), 4);
  assert.deepEqual(events.map(short), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED end']);
});

test('a revision that is forgotten is an ERROR event with 410, and the end', async (t) => {
  const server = await startTestServer({ historySize: 3 });
  t.after(server.close);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await server.client.create(CONFIG_MAPS, map(name));
  const events = await take(watch(server, 'resourceVersion=1'), 99);
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.code, object.reason]),
    [['ERROR', 410, 'Expired']],
  );
  await assert.rejects(
    async () => {
      for await (const _ of server.client.watch(CONFIG_MAPS, { resourceVersion: '1' }));
    },
    (error) => isApiError(error, 'Expired'),
  );
});

test('initial events end with the bookmark that says so', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  await server.client.create(CONFIG_MAPS, map('a'));
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const events = await take(watch(server, query), 2);
  assert.deepEqual(events.map(short), ['ADDED a', `BOOKMARK ${server.store.revision}`]);
  assert.deepEqual(events[1]?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
  assert.equal((await server.fetch(`${MAPS}?watch=true&sendInitialEvents=true`)).status, 422);
  assert.equal((await server.fetch(`${MAPS}?watch=true&resourceVersionMatch=NotOlderThan`)).status, 422);
});

test('bookmarks come once a minute and before the end, and the end comes after timeoutSeconds', async (t) => {
  const clock = new FakeClock();
  const server = await startTestServer({ clock });
  t.after(server.close);
  const events = take(watch(server, `allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion=${server.store.revision}`), 99);
  await new Promise(setImmediate);
  for (const ms of [60_000, 30_000]) {
    clock.advance(ms);
    await new Promise(setImmediate);
  }
  assert.deepEqual((await events).map(short), [`BOOKMARK ${server.store.revision}`, `BOOKMARK ${server.store.revision}`]);
});

test('without the flag there are no bookmarks', async (t) => {
  const clock = new FakeClock();
  const server = await startTestServer({ clock });
  t.after(server.close);
  const events = take(watch(server, `timeoutSeconds=60&resourceVersion=${server.store.revision}`), 99);
  await new Promise(setImmediate);
  clock.advance(60_000);
  assert.deepEqual(await events, []);
});

test('a table watch has columns in its first event only', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  await server.client.create(CONFIG_MAPS, map('a'));
  await server.client.create(CONFIG_MAPS, map('b'));
  const events = await take(watch(server, '', { headers: { accept: TABLE } }), 2);
  assert.deepEqual(
    events.map(({ object }) => [object.kind, (object.columnDefinitions?.length ?? 0) > 0, object.rows?.[0]?.cells[0]]),
    [
      ['Table', true, 'a'],
      ['Table', false, 'b'],
    ],
  );
});

test('a watch of one object follows that object', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  await server.client.create(CONFIG_MAPS, map('a'));
  await server.client.create(CONFIG_MAPS, map('b'));
  const events = await take(watch(server, 'fieldSelector=metadata.name=b&resourceVersion=0'), 1);
  assert.deepEqual(events.map(short), ['ADDED b']);
});

test('a client that reads nothing is cut off, not buffered for ever', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  await server.client.create(CONFIG_MAPS, map('a'));
  const response = await server.fetch(`${MAPS}?watch=true&resourceVersion=${server.store.revision}`);
  for (let i = 0; i < 21; i += 1) {
    await Promise.all(
      Array.from({ length: 1000 }, (_, j) =>
        server.store.write({ key: 'core/configmaps/default/a', value: { ...map('a'), data: { n: `${i}-${j}` } } }),
      ),
    );
  }
  let count = 0;
  for await (const _ of readLines(response.body)) count += 1;
  assert.ok(count > 20_000 && count < 21_000, `${count} events before the end`);
});

test('a client that reads nothing of large objects is cut off long before that, and finds its way back', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  await server.client.create(CONFIG_MAPS, map('a'));
  const response = await server.fetch(`${MAPS}?watch=true&resourceVersion=${server.store.revision}`);
  const before = liveBytes();
  const text = 'x'.repeat(1_000_000);
  for (let n = 0; n < 120; n += 1) {
    await server.store.write({ key: 'core/configmaps/default/a', value: { ...map('a'), data: { text: `${n}${text}` } } });
  }
  const keptMebibytes = (liveBytes() - before) / 2 ** 20;
  assert.ok(keptMebibytes < 160, `${keptMebibytes} MiB are kept`); // what waits, and the history
  let count = 0;
  let last = '';
  for await (const line of readLines(response.body)) {
    count += 1;
    last = (JSON.parse(line) as Event).object.metadata.resourceVersion ?? '';
  }
  assert.ok(count > 50 && count < 80, `${count} events before the end`);
  const [again] = await take(watch(server, `resourceVersion=${last}`), 1);
  assert.deepEqual([again?.type, again?.object.code], ['ERROR', 410]);
});

test('objects that were there at the start do not count as being behind', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const keys = Array.from({ length: 21_000 }, (_, n) => `m${n}`);
  await Promise.all(keys.map((name) => server.store.write({ key: `core/configmaps/default/${name}`, value: { ...map(name) } })));
  const response = await server.fetch(`${MAPS}?watch=true`);
  await server.client.create(CONFIG_MAPS, map('later'));
  let count = 0;
  for await (const line of readLines(response.body)) {
    count += 1;
    if (line.includes('"later"')) break;
  }
  assert.equal(count, 21_001);
});

test('watchers that come and go at random see the change log without gap or repeat', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const start = server.store.revision;
  const log: number[] = [];
  server.store.watch('core/configmaps/', start, ({ revision }) => log.push(revision));
  let isReading = true;
  const writing = (async () => {
    for (let i = 0; isReading; i += 1) {
      const name = `m${i % 7}`;
      if (await server.client.get(CONFIG_MAPS, at(name))) await server.client.delete(CONFIG_MAPS, at(name));
      else await server.client.create(CONFIG_MAPS, map(name));
    }
  })();
  const seen: number[] = [];
  let from = start;
  for (let size = 1; seen.length < 600; size = (size % 5) + 1) {
    for (const { object } of await take(watch(server, `resourceVersion=${from}`), size)) {
      from = Number(object.metadata.resourceVersion);
      seen.push(from);
    }
  }
  isReading = false;
  await writing;
  assert.deepEqual(seen, log.slice(0, seen.length));
});

test('closing the server ends its watches', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const events = take(watch(server, `resourceVersion=${server.store.revision}`), 1);
  await new Promise(setImmediate);
  server.server.close();
  assert.deepEqual(await events, []);
});

test('a user with too many watches is told to come back, and may when one has ended', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  await grant(client, {
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['watch'] }],
    subject: { kind: 'User', name: 'ann' },
  });
  const ann = { user: 'ann', groups: ['system:authenticated'] };
  const watch = () => fetch('/api/v1/configmaps?watch=1', {}, ann);
  const watches: Response[] = [];
  while (watches.length < 300) watches.push(await watch());
  const refused = await watch();
  assert.deepEqual([watches.every(({ status }) => status === 200), refused.status, refused.headers.get('retry-after')], [true, 429, '1']);
  assert.match(await refused.text(), /too many watches/);
  await watches[0]?.body?.cancel();
  const next = await watch();
  assert.equal(next.status, 200);
  await Promise.all([...watches.slice(1), next].map(({ body }) => body?.cancel()));
});

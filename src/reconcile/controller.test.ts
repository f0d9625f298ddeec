import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../api/core/configmap.ts';
import { keyOf, refOf } from '../api/meta.ts';
import { TerminalError } from '../base/errors.ts';
import { createLogger } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { handFedCache } from '../testing/hand-fed-cache.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { quiet, until } from '../testing/until.ts';
import { runController } from './controller.ts';
import type { Action, Decision } from './decision.ts';
import { changesOf } from './source.ts';

function configMap(resourceVersion: string, data?: Record<string, string>): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'a', uid: 'uid-a', resourceVersion }, data };
}

const PATCH = 'PATCH /api/v1/namespaces/ns/configmaps/a';
const EVENT = 'POST /api/v1/namespaces/ns/events';
const patch: Action = { do: 'patch', target: refOf(configMap('1')), patch: { data: { done: 'yes' } }, because: 'not done' };
const event = { type: 'Normal', reason: 'SuccessfulCreate', message: 'It is done' } as const;

function start(t: TestContext, decide: (seen: ConfigMap, look: number) => Decision) {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const stop = new AbortController();
  const cache = handFedCache(CONFIG_MAPS);
  const lines: { level: string; object?: string; because?: string; message: string }[] = [];
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line)), level: 'debug', now: () => clock.now() });
  /** The version of the object at each look. */
  const looks: (string | undefined)[] = [];
  const ended = runController<ConfigMap>({
    name: 'test-controller',
    client: api.client,
    clock,
    log,
    signal: stop.signal,
    triggers: [changesOf(cache, ({ metadata }) => [keyOf(metadata)])],
    observe: (key) => cache.get(key),
    decide: (seen) => decide(seen, looks.push(seen.metadata.resourceVersion)),
    subject: (seen) => seen,
  });
  t.after(async () => {
    stop.abort();
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    await until(() => {
      clock.advance(60_000);
      return hasEnded;
    });
  });
  const feed = (version: string, data?: Record<string, string>) => cache.put(configMap(version, data));
  return { api, clock, stop, cache, looks, lines, feed, ended };
}

const isDone = (seen: ConfigMap) => seen.data?.['done'] === 'yes';
const untilDone = (seen: ConfigMap): Decision => ({ actions: isDone(seen) ? [] : [patch] });

test('nothing is looked at before every cache is there', async (t) => {
  const { cache, looks, feed } = start(t, () => ({ actions: [] }));
  feed('1');
  await quiet();
  assert.deepEqual(looks, []);
  cache.sync();
  await until(() => looks.length === 1);
});

test('a decision is carried out, logged with its reason, and recorded on the subject', async (t) => {
  const { api, cache, lines, feed } = start(t, (seen) => ({ actions: isDone(seen) ? [] : [{ ...patch, event }] }));
  feed('1');
  cache.sync();
  const sent = await api.answer(configMap('2', { done: 'yes' }));
  feed('2', { done: 'yes' });
  const recorded = (await api.answer({})) as { metadata: { name: string } };
  assert.deepEqual(sent, { data: { done: 'yes' }, metadata: { uid: 'uid-a' } });
  assert.deepEqual(recorded, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: recorded.metadata.name, namespace: 'ns' },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a', uid: 'uid-a', resourceVersion: '1' },
    ...event,
    source: { component: 'test-controller' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
    reportingComponent: 'test-controller',
    reportingInstance: '',
  });
  assert.match(recorded.metadata.name, /^a\.[0-9a-f]{16}$/);
  assert.deepEqual(
    lines.map(({ message, object, because }) => ({ message, object, because })),
    [{ message: 'patch', object: 'ConfigMap ns/a', because: 'not done' }],
  );
});

test('a key is not looked at again before the cache shows what was written for it', async (t) => {
  const { api, cache, looks, feed } = start(t, untilDone);
  feed('1');
  cache.sync();
  await api.answer(configMap('7', { done: 'yes' }));
  feed('5'); // somebody else's older write
  await quiet();
  assert.deepEqual(looks, ['1']);
  feed('7', { done: 'yes' });
  await until(() => looks.length === 2);
  assert.deepEqual([looks, api.seen], [['1', '7'], [PATCH]]);
});

test('a write that the cache never shows holds a key up for five seconds, not for good', async (t) => {
  const { api, clock, cache, looks, feed } = start(t, untilDone);
  feed('1');
  cache.sync();
  await api.answer(configMap('7', { done: 'yes' }));
  feed('5', { done: 'yes' });
  await quiet();
  clock.advance(5_000);
  await until(() => looks.length === 2);
});

test('a deletion is waited for too', async (t) => {
  const remove: Action = { do: 'delete', target: refOf(configMap('1')), because: 'unwanted' };
  const { api, cache, looks, feed } = start(t, () => ({ actions: [remove] }));
  feed('1');
  cache.sync();
  await api.answer({});
  feed('2');
  await quiet();
  assert.deepEqual(looks, ['1']);
  cache.remove(configMap('3'));
  await quiet();
  assert.deepEqual([looks, api.seen], [['1'], ['DELETE /api/v1/namespaces/ns/configmaps/a']]);
});

for (const [reason, code] of [
  ['Conflict', 409],
  ['NotFound', 404],
] as const) {
  test(`${reason} means to look again: no event, and what was to follow is not done`, async (t) => {
    const { api, clock, cache, looks, feed } = start(t, (_seen, look) => ({ actions: look === 1 ? [patch, { ...patch, event }] : [] }));
    feed('1');
    cache.sync();
    await api.refuse(reason, code);
    await quiet();
    clock.advance(5);
    await until(() => looks.length === 2);
    assert.deepEqual(api.seen, [PATCH]);
  });
}

test('a refusal is told on the subject and tried again later, ever less often', async (t) => {
  const { api, clock, cache, looks, feed } = start(t, untilDone);
  feed('1');
  cache.sync();
  await api.refuse('Forbidden', 403, 'quota exceeded');
  const recorded = await api.answer({});
  await until(() => {
    clock.advance(5);
    return api.seen.length === 3;
  });
  assert.deepEqual(api.seen, [PATCH, EVENT, PATCH]);
  assert.deepEqual(looks, ['1', '1']);
  const { type, reason, message } = recorded as Record<string, string>;
  assert.deepEqual([type, reason, message], ['Warning', 'FailedUpdate', 'Cannot patch ConfigMap ns/a: quota exceeded']);
  await api.answer(configMap('2', { done: 'yes' }));
  feed('2', { done: 'yes' });
});

test('the same event again raises its count', async (t) => {
  const { api, cache, feed } = start(t, () => ({ actions: [{ do: 'record', event, because: 'it happened' }] }));
  feed('1');
  cache.sync();
  const { metadata } = (await api.answer({})) as { metadata: { name: string } };
  feed('2');
  await api.refuse('AlreadyExists', 409);
  await api.answer({ metadata, count: 1 });
  assert.deepEqual(await api.answer({}), { count: 2, lastTimestamp: '2026-01-01T00:00:00Z' });
});

test('what no retry can mend is reported once and not retried', async (t) => {
  const { api, clock, cache, looks, lines, feed } = start(t, () => {
    throw new TerminalError('this can never work');
  });
  feed('1');
  cache.sync();
  await api.answer({});
  clock.advance(600_000);
  feed('2');
  await until(() => looks.length === 2);
  await quiet();
  assert.deepEqual(api.seen, [EVENT]);
  assert.deepEqual(
    lines.map(({ level, object }) => ({ level, object })),
    [{ level: 'error', object: 'ns/a' }],
  );
});

test('waiting is not an error: the key is looked at again after the time asked for', async (t) => {
  const { clock, cache, looks, lines, feed } = start(t, (_seen, look) => ({
    actions: [],
    lookAgainAfterMs: look === 1 ? 30_000 : undefined,
  }));
  feed('1');
  cache.sync();
  await until(() => looks.length === 1);
  clock.advance(29_999);
  await quiet();
  assert.equal(looks.length, 1);
  clock.advance(1);
  await until(() => looks.length === 2);
  assert.deepEqual(lines, []);
});

test('the end waits for the write that is under way, and no other is begun', async (t) => {
  const { api, stop, cache, feed, ended } = start(t, () => ({ actions: [patch, patch] }));
  feed('1');
  cache.sync();
  await until(() => api.seen.length === 1);
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  stop.abort();
  await quiet();
  assert.equal(hasEnded, false);
  await api.answer(configMap('2'));
  await ended;
  assert.deepEqual(api.seen, [PATCH]);
});

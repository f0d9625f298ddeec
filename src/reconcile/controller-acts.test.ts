/** Decisions with actions that are no writes: one plan, logged and performed in its order. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../api/core/configmap.ts';
import { keyOf, refOf } from '../api/meta.ts';
import { createLogger } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { handFedCache } from '../testing/hand-fed-cache.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { quiet, until } from '../testing/until.ts';
import { type Act, runController } from './controller.ts';
import { type Action, type Decision, explain } from './decision.ts';
import { changesOf, WakeUps } from './source.ts';

type Say = { readonly do: 'say'; readonly word: string; readonly secret: object; readonly because: string };

const map: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'ns', name: 'a', uid: 'uid-a', resourceVersion: '1' },
};
const patch: Action = { do: 'patch', target: refOf(map), patch: { data: {} }, because: 'it is due' };
const say = (word: string): Say => ({ do: 'say', word, secret: { password: 'x' }, because: 'somebody asked' });

function start(t: TestContext, { decide, act }: { decide: (look: number) => Decision<Say>; act: Act<ConfigMap, Say> }) {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const stop = new AbortController();
  const cache = handFedCache(CONFIG_MAPS);
  const wakeUps = new WakeUps();
  const lines: { level: string; message: string; object?: string; word?: string; because?: string }[] = [];
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line)), level: 'debug', now: () => clock.now() });
  let looks = 0;
  void runController<ConfigMap, Say>({
    name: 'test-controller',
    client: api.client,
    clock,
    log,
    signal: stop.signal,
    triggers: [changesOf(cache, ({ metadata }) => [keyOf(metadata)]), wakeUps],
    observe: (key) => cache.get(key),
    decide: () => decide(++looks),
    act,
    subject: (seen) => seen,
  });
  t.after(() => stop.abort());
  cache.put(map);
  cache.sync();
  return { api, clock, wakeUps, lines, looks: () => looks };
}

test('what was decided is done in its order, writes and others alike, and logged with its reason', async (t) => {
  const done: string[] = [];
  const { api, lines } = start(t, {
    decide: (look) => ({ actions: look === 1 ? [say('one'), patch, say('two')] : [] }),
    act: ({ word }) => {
      done.push(word);
      return undefined;
    },
  });
  await until(() => api.seen.length === 1);
  assert.deepEqual(done, ['one']);
  await api.answer({ ...map, metadata: { ...map.metadata, resourceVersion: '2' } });
  await until(() => done.length === 2);
  assert.deepEqual(
    lines.map(({ message, object, word, because }) => [message, object, word, because]),
    [
      ['say', 'ConfigMap ns/a', 'one', 'somebody asked'],
      ['patch', 'ConfigMap ns/a', undefined, 'it is due'],
      ['say', 'ConfigMap ns/a', 'two', 'somebody asked'],
    ],
  );
  assert.equal(JSON.stringify(lines).includes('password'), false);
});

test('an action that fails stops the plan, which is made again after a while', async (t) => {
  const { api, clock, looks, lines } = start(t, {
    decide: (look) => ({ actions: look === 1 ? [say('one'), patch] : [] }),
    act: () => {
      throw new Error('no voice');
    },
  });
  await until(() => lines.length === 1);
  await quiet();
  assert.deepEqual([api.seen, lines[0]?.message, looks()], [[], 'failed, trying again', 1]);
  clock.advance(60_000);
  await until(() => looks() === 2);
});

test('an action that finds the world changed has the plan made again, without a word', async (t) => {
  const { clock, looks, lines } = start(t, {
    decide: (look) => ({ actions: look === 1 ? [say('one')] : [] }),
    act: () => ({ outcome: 'look again', why: 'nobody listens' }),
  });
  await until(() => lines.length === 1);
  clock.advance(60_000);
  await until(() => looks() === 2);
  assert.deepEqual([lines[0]?.level, lines[0]?.because], ['debug', 'say one: nobody listens']);
});

test('a source that is no cache wakes keys', async (t) => {
  const { wakeUps, looks } = start(t, { decide: () => ({ actions: [] }), act: () => undefined });
  await until(() => looks() === 1);
  wakeUps.wake('ns/a');
  await until(() => looks() === 2);
});

test('an action that is no write is told with its texts and numbers', () => {
  assert.deepEqual(explain({ actions: [say('one'), patch] }), ['say one: somebody asked', 'patch ConfigMap ns/a: it is due']);
});

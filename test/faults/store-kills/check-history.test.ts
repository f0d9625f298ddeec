import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createApiServer } from '../../../src/control-plane/apiserver/create-api-server.ts';
import { seededRandom } from '../../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import type { Store } from '../../../src/control-plane/store/store.ts';
import { temporaryStore } from '../../../src/control-plane/store/temporary-store.testing.ts';
import { brokenStore, FAULTS } from './broken-store.ts';
import { checkHistory } from './check-history.ts';
import type { History, WatchEvent, Write } from './history.ts';
import { Recorder } from './record-history.ts';

const WRITES = 400;
const ADMIN = { user: 'admin', groups: ['system:masters', 'system:authenticated'] };

test('a sound store has a history without violations', async () => {
  assert.deepEqual(checkHistory(await historyOf((store) => store)), []);
});

for (const [title, { rule, of }] of Object.entries(FAULTS)) {
  test(`a store that ${title} is noticed`, async () => {
    const rules = checkHistory(await historyOf((store) => brokenStore(store, of(store)))).map((violation) => violation.rule);
    assert.ok(rules.includes(rule), `${rule} is not among ${[...new Set(rules)].join(', ') || 'none'}`);
  });
}

const write = (verb: Write['verb'], expected: number, revision: number, times: [number, number], more: Partial<Write> = {}): Write => {
  const content = verb === 'delete' ? {} : { content: `c${revision}` };
  return { verb, key: 'm1', expected, ...content, revision, start: times[0], end: times[1], outcome: 'acknowledged', ...more };
};
const event = (type: string, revision: number, content = `c${revision}`): WatchEvent => ({ type, key: 'm1', revision, content });
const rulesOf = (history: Partial<History> & { readonly seen: readonly WatchEvent[] }) =>
  checkHistory({ writes: [], lists: [], ...history, watchers: [{ from: 0, events: [...history.seen], expired: 0 }] }).map(
    ({ rule }) => rule,
  );

const CREATED = write('create', 0, 1, [1, 2]);

/** What a kill can do to a store, and no fault of one that lives. */
const CASES: readonly { title: string; writes: Write[]; seen: WatchEvent[]; rules: string[] }[] = [
  {
    title: 'the last acknowledged write is lost',
    writes: [CREATED, write('update', 1, 2, [3, 4])],
    seen: [event('ADDED', 1)],
    rules: ['lost'],
  },
  {
    title: 'the last acknowledged deletion is lost',
    writes: [CREATED, write('delete', 1, 2, [3, 4], { revision: undefined })],
    seen: [event('ADDED', 1)],
    rules: ['lost'],
  },
  {
    title: 'a revision is used again after a kill',
    writes: [CREATED, write('update', 1, 2, [3, 4]), write('update', 1, 2, [5, 6], { content: 'other' })],
    seen: [event('ADDED', 1), event('MODIFIED', 2, 'other')],
    rules: ['lost', 'revision'],
  },
  {
    title: 'an unanswered write is there: nothing is wrong',
    writes: [CREATED, write('update', 1, 2, [3, 4], { outcome: 'unknown', revision: undefined })],
    seen: [event('ADDED', 1), event('MODIFIED', 2)],
    rules: [],
  },
  {
    title: 'an unanswered write is not there: nothing is wrong',
    writes: [CREATED, write('update', 1, 2, [3, 4], { outcome: 'unknown', revision: undefined })],
    seen: [event('ADDED', 1)],
    rules: [],
  },
  {
    title: 'an unanswered write is there twice',
    writes: [CREATED, write('update', 1, 2, [3, 4], { outcome: 'unknown', revision: undefined })],
    seen: [event('ADDED', 1), event('MODIFIED', 2), event('MODIFIED', 3, 'c2')],
    rules: ['doubled', 'lock'],
  },
  {
    title: 'of two deletions of one version both are acknowledged',
    writes: [CREATED, write('delete', 1, 2, [3, 4], { revision: undefined }), write('delete', 1, 2, [3, 5], { revision: undefined })],
    seen: [event('ADDED', 1), event('DELETED', 2, 'c1')],
    rules: ['lost'],
  },
  {
    title: 'what began later has the lower revision',
    writes: [write('create', 0, 2, [1, 2], { key: 'm2', content: 'c2' }), { ...CREATED, start: 3, end: 4 }],
    seen: [event('ADDED', 1), { ...event('ADDED', 2), key: 'm2' }],
    rules: ['reordered'],
  },
];

for (const { title, writes, seen, rules } of CASES) {
  test(`history: ${title}`, () => {
    assert.deepEqual([...new Set(rulesOf({ writes, seen }))].sort(), rules);
  });
}

test('history: a list that is older than what was acknowledged, and one that the log does not know', () => {
  const item = { key: 'm1', revision: 1, content: 'c1' };
  const seen = [event('ADDED', 1), event('MODIFIED', 2)];
  const writes = [CREATED, write('update', 1, 2, [3, 4])];
  const rules = (list: History['lists'][number]) => rulesOf({ writes, seen, lists: [list] });
  assert.deepEqual(rules({ start: 3, end: 5, revision: 1, items: [item] }), []);
  assert.deepEqual(rules({ start: 5, end: 6, revision: 1, items: [item] }), ['list']);
  assert.deepEqual(rules({ start: 5, end: 6, revision: 2, items: [item] }), ['list']);
  assert.deepEqual(rules({ start: 5, end: 6, revision: 2, items: [] }), ['list']);
});

/** That of the real API server on this store, under load. */
async function historyOf(around: (store: Store) => Store): Promise<History> {
  const { store, close } = temporaryStore();
  try {
    const server = await createApiServer({ store: around(store), clock: systemClock, log: silentLogger });
    const recorder = new Recorder({
      fetch: (request) => server.handle(request, ADMIN),
      whenServing: () => new Promise((resolve) => setImmediate(resolve)),
      random: seededRandom(1),
    });
    await recorder.start();
    await recorder.until(WRITES);
    await recorder.finish(500);
    server.close();
    return recorder;
  } finally {
    close();
  }
}

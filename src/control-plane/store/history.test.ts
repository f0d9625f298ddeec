import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../base/errors.ts';
import type { StoreEvent } from './entry.ts';
import { History } from './history.ts';

/** The change that brings `key` from a value of `replaced` bytes to its revision. */
function change(revision: number, replaced: number): StoreEvent {
  const key = 'core/configmaps/default/a';
  const previous = replaced === 0 ? undefined : { key, revision: revision - 1, text: ' '.repeat(replaced), value: {} };
  return { revision, key, entry: { key, revision, text: '{}', value: {} }, previous };
}

function revisions(events: readonly StoreEvent[]): number[] {
  return events.map(({ revision }) => revision);
}

test('the oldest changes make room when there are too many', () => {
  const history = new History({ changes: 2, bytes: 100 }, 0);
  assert.deepEqual(
    [1, 2, 3, 4].map((revision) => revisions(history.add(change(revision, 1)))),
    [[], [], [1], [2]],
  );
  assert.deepEqual([history.forgotten, revisions(history.since(2))], [2, [3, 4]]);
});

test('one large value makes room by itself, whatever it takes', () => {
  const history = new History({ changes: 100, bytes: 100 }, 0);
  for (const revision of [1, 2, 3, 4]) history.add(change(revision, 30));
  assert.deepEqual(revisions(history.add(change(5, 90))), [2, 3, 4]);
  assert.deepEqual(revisions(history.since(4)), [5]);
  assert.throws(
    () => history.since(3),
    (error) => isApiError(error, 'Expired'),
  );
});

test('a value that is larger than the limit is not kept at all, and later changes are', () => {
  const history = new History({ changes: 100, bytes: 100 }, 0);
  assert.deepEqual(revisions(history.add(change(1, 101))), [1]);
  history.add(change(2, 1));
  assert.deepEqual([history.forgotten, revisions(history.since(1))], [1, [2]]);
});

test('values that are still current cost the history nothing', () => {
  const history = new History({ changes: 100, bytes: 0 }, 0);
  for (const revision of [1, 2, 3]) history.add(change(revision, 0));
  assert.deepEqual(revisions(history.since(0)), [1, 2, 3]);
});

test('thousands of changes are found by their revision while old ones are cut off', () => {
  const history = new History({ changes: 50, bytes: 1000 }, 0);
  for (let revision = 1; revision <= 5000; revision += 1) {
    history.add(change(revision, revision % 97));
    const from = Math.max(history.forgotten, revision - 3);
    assert.equal(history.since(from).length, revision - from);
  }
});

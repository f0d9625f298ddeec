import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from './state.ts';

test('lists have what maps and sorting would give, after any changes', () => {
  const state = new State();
  const expected = new Map<string, number>();
  const names = ['a', 'b', 'a-', 'a/b', 'ab', '\uffff', 'ä', 'z'];
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let revision = 1; revision <= 2000; revision += 1) {
    const key = `core/pods/${names[random(4)]}/${names[random(8)]}`;
    const isDeletion = random(3) === 0;
    const entry = isDeletion ? undefined : { key, revision, text: '', value: {} };
    state.apply({ revision, key, entry, previous: state.get(key) });
    if (isDeletion) expected.delete(key);
    else expected.set(key, revision);
    for (const prefix of ['core/pods/', 'core/pods/a/', 'core/pods/ab/', 'core/nodes/']) {
      assert.deepEqual(
        state.list(prefix).map((each) => [each.key, each.revision]),
        [...expected].filter(([each]) => each.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1)),
      );
    }
  }
});

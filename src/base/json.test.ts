import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deepEqual, diffAsMergePatch, mergePatch } from './json.ts';

test('a key that is undefined counts as absent', () => assert.equal(deepEqual({ a: 1, b: undefined }, { a: 1 }), true));

test('names that every object inherits are keys like others', () => {
  const own = JSON.parse('{"constructor": 1, "toString": {}}');
  assert.deepEqual([deepEqual({}, own), deepEqual(own, {}), deepEqual(own, { ...own })], [false, false, true]);
});

test('a list is not a map with the same keys', () => assert.equal(deepEqual([], {}), false));

test('null in a merge patch removes a key', () =>
  assert.deepEqual(mergePatch({ a: 1, b: { c: 2 } }, { a: null, b: { d: 3 } }), { b: { c: 2, d: 3 } }));

test('a merge patch cannot reach the prototype', () => {
  const result = mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}'));
  assert.equal((result as { polluted?: boolean }).polluted, undefined);
});

// RFC 7396 cannot say "this key is null", so values with null are outside of what a merge patch can express.
const withoutNull = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.boolean(), fc.integer(), fc.string(), fc.array(tie('value'), { maxLength: 3 }), tie('map')),
  map: fc.dictionary(
    fc.string().filter((key) => key !== '__proto__'),
    tie('value'),
    { maxKeys: 4 },
  ),
}));

test('the difference of two values, applied as a patch, gives the second', () => {
  fc.assert(
    fc.property(withoutNull.map, withoutNull.map, (from, to) => {
      const patch = diffAsMergePatch(from, to);
      return deepEqual(patch === undefined ? from : mergePatch(from, patch), to);
    }),
  );
});

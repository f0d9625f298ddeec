import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isApiError, type StatusReason } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import { applyPatch } from './apply-patch.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const refusedAs = (reason: StatusReason) => (error: unknown) => isApiError(error, reason);
const jsonPatch = (target: JsonObject, ...patch: unknown[]) => applyPatch({ contentType: JSON_PATCH, patch, target });

test('a JSON patch adds, removes, moves and tests', () => {
  const target = { a: [1, 2], 'b/c': { 'd~e': 1 } };
  const patched = jsonPatch(
    target,
    { op: 'test', path: '/a/0', value: 1 },
    { op: 'add', path: '/a/-', value: 3 },
    { op: 'remove', path: '/a/0' },
    { op: 'move', from: '/b~1c/d~0e', path: '/f' },
  );
  assert.deepEqual(patched, { a: [2, 3], 'b/c': {}, f: 1 });
  assert.deepEqual(target, { a: [1, 2], 'b/c': { 'd~e': 1 } });
});

const REFUSED: readonly (readonly [string, unknown, StatusReason])[] = [
  ['a test that fails', [{ op: 'test', path: '/a', value: 2 }], 'Invalid'],
  ['a path that is not there', [{ op: 'remove', path: '/b/c' }], 'Invalid'],
  ['an unknown operation', [{ op: 'frobnicate', path: '/a' }], 'Invalid'],
  ['a way to the prototype', [{ op: 'add', path: '/__proto__/polluted', value: 1 }], 'Invalid'],
  ['a way to the constructor', [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }], 'Invalid'],
  ['a document that is no object any more', [{ op: 'replace', path: '', value: 1 }], 'Invalid'],
  ['a body that is no list', { op: 'remove', path: '/a' }, 'BadRequest'],
  ['too many operations', Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 })), 'RequestEntityTooLarge'],
];

for (const [what, patch, reason] of REFUSED) {
  test(`a JSON patch with ${what} is refused as ${reason}`, () => {
    assert.throws(() => applyPatch({ contentType: JSON_PATCH, patch, target: { a: 1 } }), refusedAs(reason));
    assert.equal('polluted' in {}, false);
  });
}

const PATCH_COSTS: readonly [title: string, target: JsonObject, operation: object][] = [
  ['inserts at the head of a long list', { a: Array.from({ length: 90_000 }, () => 1) }, { op: 'add', path: '/a/0', value: 1 }],
  ['moves inside a long list', { a: Array.from({ length: 90_000 }, () => 1) }, { op: 'move', from: '/a/0', path: '/a/1' }],
  ['comparisons of a map with many fields', { a: manyFields(50_000) }, { op: 'test', path: '/a', value: manyFields(50_000) }],
];
for (const [title, target, operation] of PATCH_COSTS) {
  test(`a JSON patch of too many ${title} is refused before it is done`, () => {
    const patch = Array.from({ length: 9_999 }, () => operation);
    assert.throws(() => jsonPatch(target, ...patch), /Cannot apply JSON patch: operations move or compare more than 20000000 items/);
  });
}

function manyFields(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
}

test('a value moves over another one, and never into itself', () => {
  assert.deepEqual(jsonPatch({ a: { b: 1 }, c: 2 }, { op: 'move', from: '/a', path: '/c' }), { c: { b: 1 } });
  assert.throws(() => jsonPatch({ a: { b: 1 } }, { op: 'move', from: '/a', path: '/a/b' }), /cannot be moved into itself/);
});

test('copies that double the document are stopped before memory is full', () => {
  const target = { a: { text: 'x'.repeat(100_000) } };
  const copies = Array.from({ length: 60 }, (_, index) => ({ op: 'copy', from: '', path: `/copy${index}` }));
  assert.throws(() => jsonPatch(target, ...copies), refusedAs('Invalid'));
});

test('a merge patch changes, adds and removes', () => {
  const patched = applyPatch({
    contentType: MERGE_PATCH,
    patch: { a: null, b: { c: 2 }, d: [3] },
    target: { a: 1, b: { x: 1 }, d: [1, 2] },
  });
  assert.deepEqual(patched, { b: { x: 1, c: 2 }, d: [3] });
});

test('a merge patch that is no object is refused', () => {
  assert.throws(() => applyPatch({ contentType: MERGE_PATCH, patch: [], target: {} }), refusedAs('BadRequest'));
});

test('a strategic merge of a kind without keys, and any other media type, are unsupported', () => {
  const contentType = 'application/strategic-merge-patch+json';
  assert.throws(() => applyPatch({ contentType, patch: {}, target: {} }), refusedAs('UnsupportedMediaType'));
  assert.throws(() => applyPatch({ contentType: 'application/json', patch: {}, target: {} }), refusedAs('UnsupportedMediaType'));
});

test('merging an object into itself changes nothing', () => {
  const objects = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });
  fc.assert(
    fc.property(objects, (object) => {
      // A null is an instruction in a merge patch, never content.
      const target = JSON.parse(JSON.stringify(object, (_, value) => (value === null ? 0 : value)));
      assert.deepEqual(applyPatch({ contentType: MERGE_PATCH, patch: target, target }), target);
    }),
    { numRuns: 100 },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isApiError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import { objectsOf } from '../schema/arbitrary.testing.ts';
import { builtInSchema } from '../schema/built-in.ts';
import { strategicMerge } from './strategic-merge.ts';

const pod = builtInSchema('', 'v1', 'Pod')!;
const deployment = builtInSchema('apps', 'v1', 'Deployment')!;
const patched = (spec: JsonObject, patch: JsonObject) => strategicMerge({ spec }, { spec: patch }, pod)['spec'];
const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, image: `${name}:1` }));

test('items of a list map are merged by their key, new ones are added at the end', () => {
  assert.deepEqual(patched({ containers: [a, b] }, { containers: [{ name: 'a', tty: true }, c] }), {
    containers: [{ ...a, tty: true }, c, b],
  });
});

test('an item with $patch: delete goes', () => {
  assert.deepEqual(patched({ containers: [a, b, c] }, { containers: [{ $patch: 'delete', name: 'b' }] }), { containers: [a, c] });
});

test('an item with $patch: replace replaces the list by the others', () => {
  assert.deepEqual(patched({ containers: [a, b] }, { containers: [c, { $patch: 'replace' }] }), { containers: [c] });
});

test('$setElementOrder gives the order, what only the server has stays near its neighbours', () => {
  const patch = { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }], containers: [{ name: 'c', tty: true }] };
  assert.deepEqual(patched({ containers: [a, b, c] }, patch), { containers: [b, { ...c, tty: true }, a] });
  const orderOnly = { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] };
  assert.deepEqual(patched({ containers: [a, b] }, orderOnly), { containers: [b, a] });
});

test('a list of plain values is a set: new values are added, named ones removed', () => {
  const target = { metadata: { finalizers: ['a', 'b'] } };
  const patch = { metadata: { finalizers: ['c', 'b'], '$deleteFromPrimitiveList/finalizers': ['a'] } };
  assert.deepEqual(strategicMerge(target, patch, pod), { metadata: { finalizers: ['c', 'b'] } });
  const removeOnly = { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } };
  assert.deepEqual(strategicMerge(target, removeOnly, pod), { metadata: { finalizers: ['b'] } });
});

test('a list without a strategy is replaced', () => {
  assert.deepEqual(patched({ tolerations: [{ key: 'a' }] }, { tolerations: [{ key: 'b' }] }), { tolerations: [{ key: 'b' }] });
});

test('$retainKeys drops the other fields, so that one kind of strategy replaces another', () => {
  const target = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } };
  const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
  assert.deepEqual(strategicMerge(target, patch, deployment), { spec: { strategy: { type: 'Recreate' } } });
});

test('$patch in a map replaces or empties it', () => {
  const target = { metadata: { labels: { a: '1', b: '2' } } };
  const merge = (labels: JsonObject) => strategicMerge(target, { metadata: { labels } }, pod)['metadata'];
  assert.deepEqual(merge({ $patch: 'replace', c: '3' }), { labels: { c: '3' } });
  assert.deepEqual(merge({ $patch: 'delete' }), { labels: {} });
  assert.deepEqual(merge({ $patch: 'merge', c: '3' }), { labels: { a: '1', b: '2', c: '3' } });
});

test('null removes, and directives never become content', () => {
  const patch = {
    nodeName: null,
    affinity: { $retainKeys: ['nodeAffinity'], nodeAffinity: { x: null, y: 1 } },
    containers: [{ name: 'd', tty: null }],
  };
  assert.deepEqual(patched({ nodeName: 'n' }, patch), { affinity: { nodeAffinity: { y: 1 } }, containers: [{ name: 'd' }] });
});

test('an item without its key and an unknown directive are refused', () => {
  const isBadRequest = (error: unknown) => isApiError(error, 'BadRequest');
  assert.throws(() => patched({ containers: [a] }, { containers: [{ image: 'x' }] }), isBadRequest);
  assert.throws(() => patched({}, { securityContext: { $patch: 'guess' } }), isBadRequest);
});

test('a field called __proto__ is not one', () => {
  const patch = JSON.parse('{"metadata":{"labels":{"__proto__":{"polluted":"1"},"a":"b"}}}');
  assert.deepEqual(strategicMerge({}, patch, pod), { metadata: { labels: { a: 'b' } } });
  assert.equal('polluted' in {}, false);
});

test('merging an object into itself changes nothing', () => {
  fc.assert(
    fc.property(objectsOf(pod, 6), (object) => assert.deepEqual(strategicMerge(object, object, pod), object)),
    { numRuns: 60 },
  );
});

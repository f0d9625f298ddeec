import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { objectsOf } from './arbitrary.testing.ts';
import { builtInSchema } from './built-in.ts';
import { prune } from './prune.ts';
import type { Schema } from './schema.ts';

const spec = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties: { spec: { type: 'object', properties } } });
const pruned = (schema: Schema, value: object) => prune(schema, { spec: value });

test('what the schema does not name is dropped and reported with its path', () => {
  const schema = spec({ items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } } });
  assert.deepEqual(pruned(schema, { items: [{ name: 'a', size: 1 }], more: {} }), {
    value: { spec: { items: [{ name: 'a' }] } },
    unknown: ['spec.items[0].size', 'spec.more'],
  });
});

test('unknown fields of metadata are dropped, those of ObjectMeta are kept', () => {
  const object = {
    apiVersion: 'a/v1',
    kind: 'A',
    metadata: { name: 'n', labels: { a: 'b' }, ownerReferences: [{ uid: 'u' }], color: 'red' },
  };
  assert.deepEqual(prune({ type: 'object' }, object), {
    value: { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'n', labels: { a: 'b' }, ownerReferences: [{ uid: 'u' }] } },
    unknown: ['metadata.color'],
  });
});

test('a node that keeps unknown fields still prunes inside the fields it names', () => {
  const known: Schema = { type: 'object', properties: { a: { type: 'string' } } };
  const schema = spec({ free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known } } });
  assert.deepEqual(pruned(schema, { free: { known: { a: 'x', b: 1 }, other: { c: 1 } } }), {
    value: { spec: { free: { known: { a: 'x' }, other: { c: 1 } } } },
    unknown: ['spec.free.known.b'],
  });
});

test('an embedded resource has apiVersion, kind and pruned metadata without naming them', () => {
  const schema = spec({ template: { type: 'object', 'x-kubernetes-embedded-resource': true } });
  const template = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', bad: 1 }, spec: {} };
  assert.deepEqual(pruned(schema, { template }), {
    value: { spec: { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } } } },
    unknown: ['spec.template.metadata.bad', 'spec.template.spec'],
  });
});

test('map values are pruned, map keys are not', () => {
  const schema = spec({ map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } } });
  assert.deepEqual(pruned(schema, { map: { any: { a: 'x', b: 1 } } }), {
    value: { spec: { map: { any: { a: 'x' } } } },
    unknown: ['spec.map.any.b'],
  });
});

test('names every JavaScript object has are not fields of the schema', () => {
  const value = JSON.parse('{"spec":{"constructor":1,"__proto__":{"x":1},"toString":2}}');
  assert.deepEqual(prune(spec({}), value), { value: { spec: {} }, unknown: ['spec.constructor', 'spec.__proto__', 'spec.toString'] });
});

test('what the schema names is kept, and an object without unknown fields is not copied', () => {
  const schema = builtInSchema('', 'v1', 'Pod')!;
  fc.assert(
    fc.property(objectsOf(schema), (pod) => {
      const result = prune(schema, pod);
      assert.deepEqual(result.unknown, []);
      assert.equal(result.value, pod);
    }),
    { numRuns: 40 },
  );
});

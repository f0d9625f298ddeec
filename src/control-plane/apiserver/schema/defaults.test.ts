import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { objectsOf } from './arbitrary.testing.ts';
import { builtInSchema } from './built-in.ts';
import { applyDefaults } from './defaults.ts';
import type { Schema } from './schema.ts';

const spec = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties: { spec: { type: 'object', properties } } });
const filled = (schema: Schema, value: object) => applyDefaults(schema, { spec: value })['spec'];

test('defaults are filled top down, also inside a default', () => {
  const inner: Schema = { type: 'object', default: {}, properties: { size: { type: 'integer', default: 3 } } };
  assert.deepEqual(filled(spec({ inner }), {}), { inner: { size: 3 } });
});

test('a parent that is missing and has no default stays missing', () => {
  const inner: Schema = { type: 'object', properties: { size: { type: 'integer', default: 3 } } };
  assert.deepEqual(filled(spec({ inner }), {}), {});
});

test('a false, a zero and an empty text are values, not gaps', () => {
  const schema = spec({ a: { type: 'boolean', default: true }, b: { type: 'integer', default: 1 }, c: { type: 'string', default: 'x' } });
  assert.deepEqual(filled(schema, { a: false, b: 0, c: '' }), { a: false, b: 0, c: '' });
});

test('null: kept when nullable, replaced by a default, else dropped', () => {
  const schema = spec({
    nullable: { type: 'string', nullable: true, default: 'x' },
    defaulted: { type: 'string', default: 'x' },
    plain: { type: 'string' },
    map: { type: 'object', additionalProperties: { type: 'string' } },
  });
  assert.deepEqual(filled(schema, { nullable: null, defaulted: null, plain: null, map: { a: null, b: 'c' } }), {
    nullable: null,
    defaulted: 'x',
    map: { b: 'c' },
  });
});

test('null in a list: replaced by a default of the items, else left for validation', () => {
  const schema = spec({
    defaulted: { type: 'array', items: { type: 'string', default: 'x' } },
    plain: { type: 'array', items: { type: 'string' } },
  });
  assert.deepEqual(filled(schema, { defaulted: [null], plain: [null] }), { defaulted: ['x'], plain: [null] });
});

test('a default is a fresh value each time', () => {
  const schema = spec({ list: { type: 'array', default: [], items: { type: 'string' } } });
  const first = filled(schema, {}) as { list: string[] };
  first.list.push('mine');
  assert.deepEqual(filled(schema, {}), { list: [] });
});

test('the given object stays as it is', () => {
  const value = Object.freeze({ spec: Object.freeze({}) });
  assert.deepEqual(applyDefaults(spec({ a: { type: 'string', default: 'x' } }), value), { spec: { a: 'x' } });
});

for (const [group, kind] of [
  ['', 'Pod'],
  ['', 'Service'],
  ['apps', 'Deployment'],
  ['apiextensions.k8s.io', 'CustomResourceDefinition'],
] as const) {
  test(`a ${kind} with its defaults has nothing left to fill in`, () => {
    const schema = builtInSchema(group, 'v1', kind)!;
    fc.assert(
      fc.property(objectsOf(schema), (object) => {
        const once = applyDefaults(schema, object);
        assert.equal(applyDefaults(schema, once), once);
      }),
      { numRuns: 25 },
    );
  });
}

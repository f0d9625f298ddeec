/** Values that follow a schema, for property tests. */
import fc from 'fast-check';
import type { JsonObject } from '../../../base/json.ts';
import type { Schema } from './schema.ts';

/** Objects whose fields are all named by the schema; any field may be missing. */
export function objectsOf(schema: Schema, depth = 5): fc.Arbitrary<JsonObject> {
  const entries = Object.entries(schema.properties ?? {}).map(([key, child]) => [key, valuesOf(child, depth - 1)] as const);
  // A record of arbitraries by name is what fast-check calls a model.
  const model = Object.fromEntries(entries) as Record<string, fc.Arbitrary<unknown>>;
  return fc.record(model, { requiredKeys: [], noNullPrototype: true });
}

function valuesOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema['x-kubernetes-int-or-string']) return fc.oneof(fc.integer(), fc.string());
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer();
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'array':
      return depth <= 0 || !schema.items ? fc.constant([]) : fc.array(valuesOf(schema.items, depth - 1), { maxLength: 2 });
    case 'object':
      return mapsOf(schema, depth);
    case 'string':
    case undefined:
      return schema.format === 'date-time' ? fc.constant('2026-01-02T03:04:05Z') : fc.string({ maxLength: 4 });
  }
}

function mapsOf(schema: Schema, depth: number): fc.Arbitrary<JsonObject> {
  if (depth <= 0) return fc.constant({});
  if (schema.properties) return objectsOf(schema, depth);
  const { additionalProperties } = schema;
  if (typeof additionalProperties !== 'object') return fc.constant({});
  return fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), valuesOf(additionalProperties, depth - 1), { maxKeys: 2, noNullPrototype: true });
}

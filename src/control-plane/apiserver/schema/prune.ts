/** Drops what the schema does not name, as the API server does before anything else sees an object. */
import { isObject, type JsonObject } from '../../../base/json.ts';
import { asResource } from './resource-root.ts';
import { childOf, pathTo, type Schema } from './schema.ts';

export type Pruned = { readonly value: JsonObject; readonly unknown: string[] };

/**
 * The object without unknown fields, and the path of each that was dropped (`spec.containers[0].foo`). Top-level fields that are the very ones of
 * `settled` are known to be without.
 */
export function prune(schema: Schema, value: JsonObject, settled?: JsonObject): Pruned {
  const unknown: string[] = [];
  return { value: pruneObject(asResource(schema), value, { path: '', unknown }, settled), unknown };
}

type Place = { readonly path: string; readonly unknown: string[] };

function pruneNode(schema: Schema, value: unknown, place: Place): unknown {
  if (Array.isArray(value)) return pruneArray(schema, value, place);
  if (!isObject(value)) return value;
  const node = schema['x-kubernetes-embedded-resource'] ? asResource(schema) : schema;
  // A map where the schema wants something else is left for validation, which names the mistake better than a missing field would.
  return holdsFields(node) ? pruneObject(node, value, place) : value;
}

function pruneArray({ items }: Schema, value: readonly unknown[], { path, unknown }: Place): readonly unknown[] {
  if (!items) return value;
  const result = value.map((item, index) => pruneNode(items, item, { path: pathTo(path, index), unknown }));
  return result.every((item, index) => item === value[index]) ? value : result;
}

/** Gives back the same object when there was nothing to drop. */
function pruneObject(schema: Schema, value: JsonObject, { path, unknown }: Place, settled?: JsonObject): JsonObject {
  let result = value;
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (settled && field === settled[key]) continue;
    const child = childOf(schema, key);
    const at = pathTo(path, key);
    if (key === '__proto__' || (!child && !schema['x-kubernetes-preserve-unknown-fields'])) {
      unknown.push(at);
      if (result === value) result = { ...value };
      delete result[key];
      continue;
    }
    const kept = child ? pruneNode(child, field, { path: at, unknown }) : field;
    if (kept === field) continue;
    if (result === value) result = { ...value };
    result[key] = kept;
  }
  return result;
}

function holdsFields({ type, properties, additionalProperties }: Schema): boolean {
  return type === 'object' || properties !== undefined || additionalProperties !== undefined;
}

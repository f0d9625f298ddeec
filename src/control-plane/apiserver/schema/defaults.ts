/**
 * Fills in defaults from the schema, top down, and settles what an explicit null means:
 *   nullable               kept, never defaulted
 *   has a default          treated as missing: becomes the default
 *   in an object or a map  dropped
 *   in a list              left, for validation to refuse
 */
import { isObject, type JsonObject } from '../../../base/json.ts';
import { asResource } from './resource-root.ts';
import { childOf, type Schema } from './schema.ts';

/** The object with its defaults; the same object when there was nothing to fill in. Top-level fields that are the very ones of `settled` have theirs. */
export function applyDefaults(schema: Schema, value: JsonObject, settled?: JsonObject): JsonObject {
  return defaultObject(asResource(schema), value, settled);
}

function defaultNode(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return defaultArray(schema, value);
  if (!isObject(value)) return value;
  return defaultObject(schema['x-kubernetes-embedded-resource'] ? asResource(schema) : schema, value);
}

function defaultArray({ items }: Schema, value: readonly unknown[]): readonly unknown[] {
  if (!items) return value;
  const result = value.map((item) => defaultNode(items, item === null && isReplaced(items) ? structuredClone(items.default) : item));
  return result.every((item, index) => item === value[index]) ? value : result;
}

function defaultObject(schema: Schema, value: JsonObject, settled?: JsonObject): JsonObject {
  const filled = derive(schema, fillFixed(schema, dropNulls(schema, value)));
  let result = filled;
  for (const [key, field] of Object.entries(filled)) {
    if (settled && field === settled[key]) continue;
    const child = childOf(schema, key);
    const next = child ? defaultNode(child, field) : field;
    if (next === field) continue;
    if (result === filled) result = { ...filled };
    result[key] = next;
  }
  return result;
}

function dropNulls(schema: Schema, value: JsonObject): JsonObject {
  let result = value;
  for (const [key, field] of Object.entries(value)) {
    const child = childOf(schema, key);
    if (field !== null || !child || child.nullable || isAnything(child)) continue;
    if (result === value) result = { ...value };
    if (isReplaced(child)) result[key] = structuredClone(child.default);
    else delete result[key];
  }
  return result;
}

function fillFixed(schema: Schema, value: JsonObject): JsonObject {
  let result = value;
  for (const [key, fixed] of fixedDefaults(schema)) {
    if (value[key] !== undefined) continue;
    if (result === value) result = { ...value };
    result[key] = structuredClone(fixed);
  }
  return result;
}

/** Few of the many fields of a kind have one: they are looked for once, not in every object. */
const fixedOf = new WeakMap<Schema, readonly (readonly [key: string, fixed: unknown])[]>();

function fixedDefaults(schema: Schema): readonly (readonly [key: string, fixed: unknown])[] {
  const known = fixedOf.get(schema);
  if (known) return known;
  const found = Object.entries(schema.properties ?? {}).flatMap(([key, child]): [string, unknown][] =>
    child.default === undefined || key === '__proto__' ? [] : [[key, child.default]],
  );
  fixedOf.set(schema, found);
  return found;
}

function derive(schema: Schema, value: JsonObject): JsonObject {
  const derived = schema.deriveDefaults?.(value);
  return derived ? fillMissing(withoutBlanks(schema, value, derived), derived) : value;
}

/** Clients in Go write a port that nobody chose as 0 or "": their type for a number or a name cannot leave it out. */
function withoutBlanks(schema: Schema, value: JsonObject, derived: JsonObject): JsonObject {
  const isBlank = (key: string) => (value[key] === 0 || value[key] === '') && childOf(schema, key)?.['x-kubernetes-int-or-string'];
  const blanks = Object.keys(derived).filter(isBlank);
  return blanks.length === 0 ? value : Object.fromEntries(Object.entries(value).filter(([key]) => !blanks.includes(key)));
}

/** Adds what is absent, key by key into maps; what is there stays. */
function fillMissing(value: JsonObject, extra: JsonObject): JsonObject {
  let result = value;
  for (const [key, wanted] of Object.entries(extra)) {
    const present = value[key];
    const next = present === undefined ? wanted : isObject(present) && isObject(wanted) ? fillMissing(present, wanted) : present;
    if (next === present) continue;
    if (result === value) result = { ...value };
    result[key] = next;
  }
  return result;
}

function isReplaced(schema: Schema): boolean {
  return schema.default !== undefined && !schema.nullable;
}

/** A node that takes any JSON takes null too. */
function isAnything(schema: Schema): boolean {
  return schema.type === undefined && schema['x-kubernetes-preserve-unknown-fields'] === true;
}

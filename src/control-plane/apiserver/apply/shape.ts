/** How ownership sees a value: whole, by its fields, or by the items of a list. The schema says it; without one, maps are seen by their keys. */
import { isObject, type JsonObject } from '../../../base/json.ts';
import { asResource } from '../schema/resource-root.ts';
import { childOf, type Schema } from '../schema/schema.ts';

export type Shape =
  /** One owner for all of it: plain values, and maps and lists that are atomic. */
  | { readonly as: 'leaf' }
  | { readonly as: 'map'; readonly schema: Schema | undefined }
  /** A list of values that are there or not. */
  | { readonly as: 'set' }
  /** A list whose items are known by some of their fields. */
  | { readonly as: 'keyed'; readonly keys: readonly string[]; readonly items: Schema | undefined };

const LEAF: Shape = { as: 'leaf' };
const SET: Shape = { as: 'set' };

export function shapeOf(schema: Schema | undefined, value: unknown): Shape {
  if (Array.isArray(value)) return listShape(schema);
  if (!isObject(value) || schema?.['x-kubernetes-map-type'] === 'atomic') return LEAF;
  return { as: 'map', schema: schema?.['x-kubernetes-embedded-resource'] ? asResource(schema) : schema };
}

/** Lists that say nothing of themselves but how a strategic merge treats them are treated alike. */
function listShape(schema: Schema | undefined): Shape {
  const strategy = schema?.['x-kubernetes-patch-strategy'] ?? '';
  const mergeKey = schema?.['x-kubernetes-patch-merge-key'];
  switch (schema?.['x-kubernetes-list-type']) {
    case 'set':
      return SET;
    case 'map':
      return { as: 'keyed', keys: [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort(), items: schema.items };
    case 'atomic':
      return LEAF;
    case undefined:
      if (!strategy.split(',').includes('merge')) return LEAF;
      return mergeKey === undefined ? SET : { as: 'keyed', keys: [mergeKey], items: schema?.items };
  }
}

/** The schema of a field or map value; undefined where anything goes. */
export function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  return schema && childOf(schema, key);
}

/** True for a field that the schema names: a struct's, not a key of a map. */
export function isNamedField(schema: Schema | undefined, key: string): boolean {
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, key);
}

/** The step to an item of a keyed list; undefined when a key is missing that has no default. */
export function itemStep(
  { keys, items }: { readonly keys: readonly string[]; readonly items: Schema | undefined },
  item: unknown,
): string | undefined {
  if (!isObject(item)) return undefined;
  const values: JsonObject = {};
  for (const key of keys) {
    const value = item[key] ?? keyDefault(items, key);
    if (value === undefined) return undefined;
    values[key] = value;
  }
  return `k:${JSON.stringify(values)}`;
}

/** Of built-in kinds, Go's zero is the default of a key that has none. */
function keyDefault(items: Schema | undefined, key: string): unknown {
  const child = fieldSchema(items, key);
  if (child?.default !== undefined || items?.definition === undefined) return child?.default;
  return child?.type === 'string' ? '' : 0;
}

/**
 * The value of a field as ownership sees it. A struct of a built-in kind is in every object, said or not, and so is a list that must be
 * there: it is nobody's.
 */
export function fieldValue(schema: Schema | undefined, fields: Readonly<Record<string, unknown>> | undefined, key: string): unknown {
  const value = fields?.[key];
  if (value !== undefined || fields === undefined || schema?.definition === undefined) return value;
  const child = fieldSchema(schema, key);
  if (child?.isStruct && child.properties) return {};
  return child?.type === 'array' && schema.required?.includes(key) ? [] : undefined;
}

/** The step to an item of a set. */
export function valueStep(value: unknown): string {
  return `v:${JSON.stringify(value)}`;
}

/**
 * Strategic merge patch: a merge patch that knows from the schema which lists are sets and which are maps by a key.
 *   $patch: replace | delete | merge    what to do with the map (or, as an item, with the list) it is in
 *   $setElementOrder/<list>             the order of the items the client knows
 *   $deleteFromPrimitiveList/<list>     values to remove from a list of plain values
 *   $retainKeys                         fields to keep; others of the map go
 */
import { ApiError } from '../../../base/errors.ts';
import { deepEqual, isObject, type JsonObject } from '../../../base/json.ts';
import { childOf, type Schema } from '../schema/schema.ts';
import { firstPlaces, mergeOrder } from './element-order.ts';

const ORDER = '$setElementOrder/';
const REMOVE = '$deleteFromPrimitiveList/';

/** The object with the patch applied; neither argument is changed. */
export function strategicMerge(target: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  return mergeMap(target, patch, schema);
}

function mergeMap(target: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = patch['$patch'];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') throw badDirective(directive);
  const result = retained(target, patch['$retainKeys']);
  for (const key of fieldsOf(patch)) {
    const value = patch[key];
    const child = schema && childOf(schema, key);
    if (value === null) delete result[key];
    else if (value !== undefined || Array.isArray(result[key])) {
      const order = listOf(patch[ORDER + key]);
      const removed = listOf(patch[REMOVE + key]) ?? [];
      const next = mergeValue({ target: result[key], patch: value, schema: child, order, removed });
      if (next !== undefined) result[key] = next;
    }
  }
  return result;
}

/** Names of fields, whether they are patched themselves or only by a directive about them. */
function fieldsOf(patch: JsonObject): Set<string> {
  const names = Object.keys(patch).filter((key) => key !== '$patch' && key !== '$retainKeys' && key !== '__proto__');
  return new Set(names.map((key) => (key.startsWith(ORDER) || key.startsWith(REMOVE) ? key.slice(key.indexOf('/') + 1) : key)));
}

function retained(target: JsonObject, keys: unknown): JsonObject {
  if (!Array.isArray(keys)) return { ...target };
  const kept = new Set(keys);
  return Object.fromEntries(Object.entries(target).filter(([key]) => kept.has(key)));
}

type Merge = {
  readonly target: unknown;
  readonly patch: unknown;
  readonly schema: Schema | undefined;
  readonly order: readonly unknown[] | undefined;
  readonly removed: readonly unknown[];
};

function mergeValue({ target, patch, schema, order, removed }: Merge): unknown {
  const strategies = (schema?.['x-kubernetes-patch-strategy'] ?? '').split(',');
  if (isObject(patch)) {
    const isReplaced = strategies.includes('replace') || !isObject(target);
    return isReplaced ? mergeMap({}, patch, schema) : mergeMap(target, patch, schema);
  }
  const isList = patch === undefined || Array.isArray(patch);
  if (!isList) return patch;
  const mergeKey = schema?.['x-kubernetes-patch-merge-key'];
  const patchItems = listOf(patch) ?? [];
  if (!strategies.includes('merge')) return patch === undefined ? target : patchItems.map(withoutNulls);
  const targetItems = listOf(target) ?? [];
  if (mergeKey === undefined) return mergeSet(targetItems, patchItems, { order, removed });
  return mergeByKey({ target: targetItems, patch: patchItems, mergeKey, items: schema?.items, order });
}

/** A list of plain values: what is there, without what is removed, plus what is new. */
function mergeSet(
  target: readonly unknown[],
  patch: readonly unknown[],
  { order, removed }: { order: readonly unknown[] | undefined; removed: readonly unknown[] },
): readonly unknown[] {
  if (deepEqual(target, patch)) return target;
  const gone = new Set(removed);
  const kept = target.filter((value) => !gone.has(value));
  const present = new Set(kept);
  const merged = [...kept, ...patch.filter((value) => !present.has(value))];
  return mergeOrder({ items: merged, live: target, order: order ?? patch, keyOf: (value) => value });
}

type MergeByKey = {
  readonly target: readonly unknown[];
  readonly patch: readonly unknown[];
  readonly mergeKey: string;
  readonly items: Schema | undefined;
  readonly order: readonly unknown[] | undefined;
};

function mergeByKey({ target, patch, mergeKey, items, order }: MergeByKey): readonly unknown[] {
  // Keys may repeat in a live list (a port in TCP and UDP): saying it again must still change nothing.
  if (deepEqual(target, patch)) return target;
  const changes = patch.map((item) => itemOf(item, mergeKey));
  const plain = changes.filter((item) => item['$patch'] === undefined || item['$patch'] === 'merge');
  if (changes.some((item) => item['$patch'] === 'replace')) return plain.map(withoutDirectives);
  const keyOf = (item: unknown): unknown => (isObject(item) ? item[mergeKey] : item);
  const deleted = new Set(changes.filter((item) => item['$patch'] === 'delete').map(keyOf));
  const merged = target.filter((item) => !deleted.has(keyOf(item)));
  const places = firstPlaces(merged.map(keyOf));
  for (const change of plain) {
    const key = keyOf(change);
    const at = places.get(key) ?? merged.length;
    const live = merged[at];
    merged[at] = mergeMap(isObject(live) ? live : {}, change, items);
    places.set(key, at);
  }
  return mergeOrder({ items: merged, live: target, order: order ?? plain, keyOf });
}

function itemOf(item: unknown, mergeKey: string): JsonObject {
  if (isObject(item) && (item[mergeKey] !== undefined || item['$patch'] === 'replace')) {
    const directive = item['$patch'];
    if (directive === undefined || directive === 'replace' || directive === 'delete' || directive === 'merge') return item;
    throw badDirective(directive);
  }
  throw new ApiError('BadRequest', `Cannot apply patch: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
}

/** What a replacement leaves: nulls and directives are instructions, never content. */
function withoutDirectives(patch: JsonObject): JsonObject {
  const entries = Object.entries(patch).filter(([key, value]) => !isDirective(key) && key !== '__proto__' && value !== null);
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutNulls(value)]));
}

function isDirective(key: string): boolean {
  return key === '$patch' || key === '$retainKeys' || key.startsWith(ORDER) || key.startsWith(REMOVE);
}

function withoutNulls(value: unknown): unknown {
  return isObject(value) ? withoutDirectives(value) : value;
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function badDirective(directive: unknown): ApiError {
  return new ApiError('BadRequest', `Cannot apply patch: unrecognized value of $patch: ${JSON.stringify(directive)}`);
}

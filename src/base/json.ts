/** Comparing and patching plain JSON values. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { [key: string]: unknown };

/** True for a plain object, not for null or an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whatever somebody sent, as text for a message: a template would ask an object for its own `toString`, which may be anything. */
export function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}

/** Equality of JSON values; a key with the value undefined counts as absent, as it does on the wire. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  for (const key of Object.keys(a)) if (!deepEqual(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (b[key] !== undefined && !Object.hasOwn(a, key)) return false;
  return true;
}

/** RFC 7396. Returns a new value; `target` is not changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === '__proto__') continue; // never a field of an API object, and an assignment to it would not be one
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

/** The merge patch that turns `from` into `to`; undefined when they are equal. */
export function diffAsMergePatch(from: unknown, to: unknown): unknown {
  if (deepEqual(from, to)) return undefined;
  if (!isObject(from) || !isObject(to)) return to;
  const patch: JsonObject = {};
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (deepEqual(from[key], to[key])) continue;
    patch[key] = to[key] === undefined ? null : diffAsMergePatch(from[key], to[key]);
  }
  return patch;
}

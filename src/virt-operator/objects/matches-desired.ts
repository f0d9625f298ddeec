/**
 * Whether a stored object matches the desired one. The server adds defaults, and others may add labels, containers or volumes: what we do
 * not speak of is not ours. Pure.
 */
import { isObject } from '../../base/json.ts';

/** Lists in which everybody has items of their own, told apart by name. All other lists are ours as a whole. */
const SHARED_LISTS: ReadonlySet<string> = new Set(['containers', 'env', 'ports', 'volumeMounts', 'volumes', 'webhooks']);

/** True when every field of `desired` is in `stored` with the same value. */
export function matchesDesired(stored: unknown, desired: unknown, field = ''): boolean {
  if (desired === undefined) return true;
  if (Array.isArray(desired)) return Array.isArray(stored) && sameList(stored, desired, field);
  if (!isObject(desired)) return stored === desired;
  // An empty map is not stored.
  if (stored === undefined && Object.keys(desired).length === 0) return true;
  return isObject(stored) && Object.entries(desired).every(([key, value]) => matchesDesired(stored[key], value, key));
}

function sameList(stored: readonly unknown[], desired: readonly unknown[], field: string): boolean {
  if (!SHARED_LISTS.has(field)) return stored.length === desired.length && desired.every((item, at) => matchesDesired(stored[at], item));
  return desired.every((item) =>
    matchesDesired(
      stored.find((each) => nameOf(each) === nameOf(item)),
      item,
    ),
  );
}

function nameOf(item: unknown): unknown {
  return isObject(item) ? item['name'] : undefined;
}

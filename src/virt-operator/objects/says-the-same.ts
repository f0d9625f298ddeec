/**
 * Whether a stored object says what a wanted one says. The server adds defaults, and others may add labels, containers or volumes: what we do
 * not speak of is not ours. Pure.
 */
import { isObject } from '../../base/json.ts';

/** Lists in which everybody has items of their own, told apart by name. All other lists are ours as a whole. */
const SHARED_LISTS: ReadonlySet<string> = new Set(['containers', 'env', 'ports', 'volumeMounts', 'volumes', 'webhooks']);

/** True when every field of `wanted` is in `stored` with the same value. */
export function saysTheSame(stored: unknown, wanted: unknown, field = ''): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) return Array.isArray(stored) && sameList(stored, wanted, field);
  if (!isObject(wanted)) return stored === wanted;
  // An empty map is not stored.
  if (stored === undefined && Object.keys(wanted).length === 0) return true;
  return isObject(stored) && Object.entries(wanted).every(([key, value]) => saysTheSame(stored[key], value, key));
}

function sameList(stored: readonly unknown[], wanted: readonly unknown[], field: string): boolean {
  if (!SHARED_LISTS.has(field)) return stored.length === wanted.length && wanted.every((item, at) => saysTheSame(stored[at], item));
  return wanted.every((item) =>
    saysTheSame(
      stored.find((each) => nameOf(each) === nameOf(item)),
      item,
    ),
  );
}

function nameOf(item: unknown): unknown {
  return isObject(item) ? item['name'] : undefined;
}

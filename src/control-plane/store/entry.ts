/** What the store keeps and tells: one value under one key at one revision, and the change that put it there. */
import type { JsonObject } from '../../base/json.ts';

/**
 * A stored value. It is kept as the text that is on disk, which needs a fraction of the memory; `value` is that text parsed, and shared
 * with every reader: nobody changes one in place.
 */
export type Entry = { readonly key: string; readonly revision: number; readonly text: string; readonly value: JsonObject };

/** One committed write. `value` is undefined for a deletion; `previous` is undefined for a creation. */
export type StoreEvent = {
  readonly revision: number;
  readonly key: string;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
};

/** A write; `expectedRevision` 0 means that the key must not exist, undefined that anything may be there. */
export type WriteOperation = { readonly key: string; readonly expectedRevision?: number; readonly value: JsonObject | undefined };

/** Keys are `group/plural/namespace/name` (`core` for the group without a name, an empty namespace for cluster-wide objects). */
export function bucketOf(key: string): string {
  return key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1);
}

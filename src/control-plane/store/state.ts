/** The current value of every key, in memory, with each resource's keys kept in order so that listing never sorts. */
import { bucketOf, type Entry, type StoreEvent } from './entry.ts';

type Bucket = { readonly entries: Map<string, Entry>; readonly keys: string[] };

export class State {
  #buckets = new Map<string, Bucket>();

  get(key: string): Entry | undefined {
    return this.#buckets.get(bucketOf(key))?.entries.get(key);
  }

  /** Entries whose key starts with `prefix`, in key order; '' lists everything, bucket by bucket. */
  list(prefix: string): Entry[] {
    if (prefix === '') return [...this.#buckets.keys()].sort().flatMap((name) => this.list(name));
    const bucket = this.#buckets.get(bucketOf(prefix));
    if (!bucket) return [];
    const found: Entry[] = [];
    for (let i = positionOf(bucket.keys, prefix); i < bucket.keys.length && bucket.keys[i]!.startsWith(prefix); i += 1) {
      found.push(bucket.entries.get(bucket.keys[i]!)!); // keys and entries change together, in apply
    }
    return found;
  }

  /** Takes over one committed write. */
  apply({ key, entry }: StoreEvent): void {
    const name = bucketOf(key);
    const bucket = this.#buckets.get(name) ?? { entries: new Map(), keys: [] };
    this.#buckets.set(name, bucket);
    const isKnown = bucket.entries.has(key);
    if (entry) bucket.entries.set(key, entry);
    else bucket.entries.delete(key);
    if (entry && !isKnown) bucket.keys.splice(positionOf(bucket.keys, key), 0, key);
    if (!entry && isKnown) bucket.keys.splice(positionOf(bucket.keys, key), 1);
  }
}

/** Where `key` is, or would be inserted, in the sorted `keys`. */
function positionOf(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

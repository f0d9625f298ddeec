/** The current value of every key, in memory, with each resource's keys kept in order so that listing never sorts. */
import { bucketOf, type Entry, type StoreEvent } from './entry.ts';

type Bucket = { readonly byKey: Map<string, Entry>; readonly inOrder: Entry[] };

export class State {
  #buckets = new Map<string, Bucket>();

  get(key: string): Entry | undefined {
    return this.#buckets.get(bucketOf(key))?.byKey.get(key);
  }

  /** Entries whose key starts with `prefix`, in key order; '' lists everything, bucket by bucket. */
  list(prefix: string): Entry[] {
    if (prefix === '') return [...this.#buckets.keys()].sort().flatMap((name) => this.list(name));
    const inOrder = this.#buckets.get(bucketOf(prefix))?.inOrder ?? [];
    const start = positionOf(inOrder, prefix);
    return inOrder.slice(
      start,
      search(inOrder, start, (key) => key.startsWith(prefix)),
    );
  }

  /** Takes over one committed write. */
  apply({ key, entry }: StoreEvent): void {
    const name = bucketOf(key);
    const bucket = this.#buckets.get(name) ?? { byKey: new Map(), inOrder: [] };
    this.#buckets.set(name, bucket);
    const { byKey, inOrder } = bucket;
    const known = byKey.has(key) ? 1 : 0;
    if (entry) byKey.set(key, entry);
    else byKey.delete(key);
    inOrder.splice(positionOf(inOrder, key), known, ...(entry ? [entry] : []));
  }
}

/** Where the entry of `key` is, or would be inserted. */
export function positionOf(inOrder: readonly Entry[], key: string): number {
  return search(inOrder, 0, (each) => each < key);
}

/** The first position from `low` on whose key is no longer `isBefore`. */
function search(inOrder: readonly Entry[], low: number, isBefore: (key: string) => boolean): number {
  let high = inOrder.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(inOrder[middle]!.key))
      low = middle + 1; // middle is below the length
    else high = middle;
  }
  return low;
}

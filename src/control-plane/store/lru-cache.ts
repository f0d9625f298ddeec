/**
 * What was used lately, up to a weight, for things that can be made again. Two generations: when the newer one is full, the older one
 * is let go of as a whole, so that remembering costs nothing per item and what is asked for again and again stays.
 */
export class LruCache<K, V> {
  readonly #limit: number;
  #newer = new Map<K, V>();
  #older = new Map<K, V>();
  #weight = 0;

  /** At most twice `limit` is kept. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What is known for `key`, made now if nothing is. */
  get(key: K, weight: number, make: () => V): V {
    const known = this.#newer.get(key);
    if (known !== undefined) return known;
    const value = this.#older.get(key) ?? make();
    if (this.#weight + weight > this.#limit) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#weight = 0;
    }
    this.#newer.set(key, value);
    this.#weight += weight;
    return value;
  }
}

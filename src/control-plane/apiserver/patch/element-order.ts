/** The order of a merged list: items the client names come in its order, items only the server knows stay near where they were. */

type Merged = {
  readonly items: readonly unknown[];
  /** The list before the patch. */
  readonly live: readonly unknown[];
  /** Items, or objects with their key, in the order the client wants. */
  readonly order: readonly unknown[];
  readonly keyOf: (item: unknown) => unknown;
};

/** Places each item the client did not name before the first named one that came after it in the live list. */
export function mergeOrder({ items, live, order, keyOf }: Merged): readonly unknown[] {
  const wanted = firstPlaces(order.map(keyOf));
  const place = firstPlaces(live.map(keyOf));
  const placeIn = (places: ReadonlyMap<unknown, number>, item: unknown) => places.get(keyOf(item));
  const named = items
    .filter((item) => placeIn(wanted, item) !== undefined)
    .sort((a, b) => (placeIn(wanted, a) ?? 0) - (placeIn(wanted, b) ?? 0));
  const serverOnly = items.filter((item) => placeIn(wanted, item) === undefined);
  const result: unknown[] = [];
  let next = 0;
  for (const item of serverOnly) {
    const own = placeIn(place, item) ?? live.length;
    for (; next < named.length && (placeIn(place, named[next]) ?? -1) <= own; next += 1) result.push(named[next]);
    result.push(item);
  }
  return [...result, ...named.slice(next)];
}

/** Where each key stands first. */
export function firstPlaces(keys: readonly unknown[]): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [index, key] of keys.entries()) if (!places.has(key)) places.set(key, index);
  return places;
}

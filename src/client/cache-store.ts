/** The objects of a cache with their indexes and subscribers; knows nothing of the network. */
import { type KubeObject, keyOf } from '../api/meta.ts';
import type { Logger } from '../base/log.ts';

export type Change<T> =
  | { readonly type: 'added' | 'deleted'; readonly key: string; readonly object: T }
  | { readonly type: 'modified'; readonly key: string; readonly object: T; readonly old: T };

type Indexes<T> = Readonly<Record<string, (object: T) => readonly string[]>>;
type Listener<T> = (change: Change<T>) => void;
/** What an index has under one value. Most have one object, and a map for each of these is more than many objects. */
type Group<T> = T | Map<string, T>;

export type CacheStoreOptions<T> = {
  readonly indexes: Indexes<T>;
  readonly log: Logger;
  /** For a store of more than one kind; `keyOf(metadata)` when not given. */
  readonly keyOf?: (object: T) => string;
};

export class CacheStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /** Index, then value. */
  readonly #indexed = new Map<string, Map<string, Group<T>>>();
  /** Under which index values a key is filed, so that it is found again when its object has changed: index, value, index, value. */
  readonly #valuesOf = new Map<string, readonly string[]>();
  readonly #listeners = new Set<{ readonly call: Listener<T> }>();
  readonly #indexes: Indexes<T>;
  readonly #log: Logger;
  readonly #keyOf: (object: T) => string;
  #snapshot: readonly T[] | undefined;

  constructor({ indexes, log, keyOf: ownKeyOf }: CacheStoreOptions<T>) {
    this.#keyOf = ownKeyOf ?? (({ metadata }) => keyOf(metadata));
    this.#indexes = indexes;
    this.#log = log;
    for (const index of Object.keys(indexes)) this.#indexed.set(index, new Map());
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    this.#snapshot ??= [...this.#objects.values()];
    return this.#snapshot;
  }

  byIndex(index: string, value: string): readonly T[] {
    const values = this.#indexed.get(index);
    if (!values) throw new Error(`there is no index ${index}; there are: ${[...this.#indexed.keys()].join(', ') || 'none'}`);
    const group = values.get(value);
    if (group === undefined) return [];
    return group instanceof Map ? [...group.values()] : [group];
  }

  subscribe(listener: Listener<T>): () => void {
    const entry = { call: listener };
    for (const [key, object] of [...this.#objects]) this.#notify(entry, { type: 'added', key, object });
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** Makes the content equal to a fresh list; whatever that changes is told as if it had been watched. */
  replace(items: readonly T[]): void {
    const listed = new Set(items.map((item) => this.#keyOf(item)));
    for (const [key, object] of [...this.#objects]) if (!listed.has(key)) this.#remove(key, object);
    for (const item of items) this.#put(item);
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    if (type === 'DELETED') this.#remove(this.#keyOf(object), object);
    else this.#put(object);
  }

  #put(object: T): void {
    const key = this.#keyOf(object);
    let old = this.#objects.get(key);
    if (old && old.metadata.uid !== object.metadata.uid) {
      this.#remove(key, old); // deleted and made again while nobody watched: two objects, so two changes
      old = undefined;
    }
    if (old && old.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#unindex(key);
    this.#objects.set(key, object);
    this.#index(key, object);
    this.#snapshot = undefined;
    this.#notifyAll(old ? { type: 'modified', key, object, old } : { type: 'added', key, object });
  }

  #remove(key: string, last: T): void {
    if (!this.#objects.delete(key)) return;
    this.#unindex(key);
    this.#snapshot = undefined;
    this.#notifyAll({ type: 'deleted', key, object: last });
  }

  #index(key: string, object: T): void {
    const filed: string[] = [];
    for (const [index, groups] of this.#indexed) {
      for (const value of this.#valuesIn(index, key, object)) {
        filed.push(index, value);
        const group = groups.get(value);
        if (group === undefined) groups.set(value, object);
        else if (group instanceof Map) group.set(key, object);
        else groups.set(value, new Map([group, object].map((each) => [this.#keyOf(each), each])));
      }
    }
    if (filed.length > 0) this.#valuesOf.set(key, filed);
  }

  #valuesIn(index: string, key: string, object: T): readonly string[] {
    try {
      return this.#indexes[index]?.(object) ?? [];
    } catch (error) {
      this.#log.error('an index function failed', { object: key, index, error });
      return [];
    }
  }

  #unindex(key: string): void {
    const filed = this.#valuesOf.get(key);
    if (!filed) return;
    for (let at = 0; at < filed.length; at += 2) {
      const groups = this.#indexed.get(filed[at] ?? '');
      const value = filed[at + 1] ?? '';
      const group = groups?.get(value);
      if (group instanceof Map) group.delete(key);
      if (!(group instanceof Map) || group.size === 0) groups?.delete(value);
    }
    this.#valuesOf.delete(key);
  }

  #notifyAll(change: Change<T>): void {
    for (const entry of [...this.#listeners]) if (this.#listeners.has(entry)) this.#notify(entry, change);
  }

  #notify(entry: { readonly call: Listener<T> }, change: Change<T>): void {
    try {
      entry.call(change);
    } catch (error) {
      this.#log.error('a subscriber failed', { object: change.key, change: change.type, error });
    }
  }
}

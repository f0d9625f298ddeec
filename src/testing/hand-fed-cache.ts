/** A cache that a test fills itself: for what happens when a change comes early, late or never. */
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { silentLogger } from '../base/log.ts';
import type { Cache } from '../client/cache.ts';
import { CacheStore } from '../client/cache-store.ts';

export type HandFedCache<T extends KubeObject> = Cache<T> & {
  put(object: T): void;
  remove(object: T): void;
  /** What the first list does. */
  sync(): void;
};

export function handFedCache<T extends KubeObject>(
  resource: Resource<T>,
  indexes: Readonly<Record<string, (object: T) => readonly string[]>> = {},
): HandFedCache<T> {
  const store = new CacheStore<T>({ indexes, log: silentLogger });
  const { promise: synced, resolve: sync } = Promise.withResolvers<void>();
  return {
    resource,
    get: (key) => store.get(key),
    list: () => store.list(),
    byIndex: (index, value) => store.byIndex(index, value),
    subscribe: (listener) => store.subscribe(listener),
    synced,
    put: (object) => store.apply('MODIFIED', object),
    remove: (object) => store.apply('DELETED', object),
    sync,
  };
}

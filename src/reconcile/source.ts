/** What wakes a controller: a cache, or anything else that can say which of its keys may look different now. */
import type { KubeObject } from '../api/meta.ts';
import type { Cache } from '../client/cache.ts';

export type Source = {
  /** Called with every key that has something to look at already, and with each that changes from now on. Returns how to stop. */
  subscribe(wake: (key: string) => void): () => void;
  /** Resolves when there is enough to decide on; rejects when there never will be. */
  readonly synced: Promise<void>;
  /** A cache behind it, in which a write of its kind is waited for before the key is looked at again. */
  readonly cache?: Cache<KubeObject>;
};

/** A source that is told by hand. Nothing is kept for later: keys that nobody listens to yet are lost. */
export class WakeUps implements Source {
  readonly synced: Promise<void> = Promise.resolve();
  readonly #listeners = new Set<(key: string) => void>();

  subscribe(wake: (key: string) => void): () => void {
    const listener = (key: string) => wake(key); // one of its own for each who subscribes, so that each stops only itself
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  wake(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}

/** Anything that tells of changes as a cache does. */
type Changing<T extends KubeObject> = Pick<Cache<T>, 'subscribe' | 'synced'>;

/** The keys that changes of these objects concern: asked for the old and the new state of each. */
export function changesOf<T extends KubeObject>(objects: Cache<T> | Changing<T>, keysOf: (object: T) => readonly string[]): Source {
  return {
    synced: objects.synced,
    ...('resource' in objects && { cache: objects }),
    subscribe: (wake) =>
      objects.subscribe((change) => {
        const states = change.type === 'modified' ? [change.old, change.object] : [change.object];
        // Each key once: a free worker takes a key as it is added, and a second add would make it look twice.
        for (const key of new Set(states.flatMap((state) => keysOf(state)))) wake(key);
      }),
  };
}

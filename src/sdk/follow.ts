/** A kind as an endless list of changes, for `for await`. */
import type { KubeObject } from '../api/meta.ts';
import { pathOf, type Resource } from '../api/resource.ts';
import type { Clock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { startCache } from '../client/cache.ts';
import type { Client, ListOptions } from '../client/client.ts';

/** What has become of an object. Of several changes between two reads only the last is told. */
export type Followed<T> = { readonly type: 'changed' | 'deleted'; readonly object: T };

export type FollowOptions = ListOptions & {
  /** Ends it; so does leaving the loop. */
  readonly signal?: AbortSignal;
  /** Told when the connection is lost, and when everything is current again. */
  readonly onState?: (isCurrent: boolean) => void;
};
type Following<T extends KubeObject> = FollowOptions & {
  readonly client: Client;
  readonly resource: Resource<T>;
  readonly clock: Clock;
};

/**
 * A reader that is slower than the cluster costs an object of memory for each that has changed, not for each change. What the first list refuses
 * (no such kind, no right to it) is thrown.
 */
export async function* followKind<T extends KubeObject>(options: Following<T>): AsyncGenerator<Followed<T>> {
  const { client, resource, clock, signal, onState, ...selection } = options;
  await client.request(pathForOne(resource, selection), signal && { signal }); // a cache would try again for ever
  const over = new AbortController();
  const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const waiting = new Map<string, Followed<T>>();
  let wake = Promise.withResolvers<void>();
  const end = () => wake.resolve();
  stop.addEventListener('abort', end, { once: true });
  const cache = startCache({ client, resource, clock, log: silentLogger, signal: stop, onState: onState ?? (() => {}), ...selection });
  cache.subscribe(({ type, key, object }) => {
    waiting.delete(key); // the newest comes last
    waiting.set(key, { type: type === 'deleted' ? 'deleted' : 'changed', object });
    wake.resolve();
  });
  try {
    while (!stop.aborted) {
      for (const [key, change] of waiting) {
        waiting.delete(key);
        yield change;
        if (stop.aborted) return;
      }
      await wake.promise;
      wake = Promise.withResolvers();
      if (stop.aborted) return;
    }
  } finally {
    over.abort();
  }
}

function pathForOne(resource: Resource, { namespace }: ListOptions): string {
  return `${pathOf(resource, { namespace })}?limit=1`;
}

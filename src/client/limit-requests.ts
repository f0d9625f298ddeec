/** A `fetch` that is slowed down: so many requests at once, and then so many a second, by a bucket of tokens that fills up again. */
import type { ClientLimit } from '../api/kubevirt/configuration/cluster-configuration.ts';
import type { Clock } from '../base/clock.ts';
import type { KubeFetch } from './client.ts';

export type LimitedFetch = {
  readonly fetch: KubeFetch;
  /** In force for every request from now on; undefined for none. */
  limit(limit: ClientLimit | undefined): void;
};

/** Requests wait for their turn in the order in which they come. */
export function limitRequests(inner: KubeFetch, clock: Clock): LimitedFetch {
  let current: ClientLimit | undefined;
  /** When the bucket is full again, if nobody asks any more. */
  let fullAtMs = 0;
  return {
    limit(limit) {
      current = limit;
      fullAtMs = clock.steady();
    },
    async fetch(request) {
      if (current) {
        const { qps, burst } = current;
        const now = clock.steady();
        const perTokenMs = 1000 / qps;
        fullAtMs = Math.max(fullAtMs, now) + perTokenMs;
        const waitMs = fullAtMs - now - burst * perTokenMs;
        if (waitMs > 0) await clock.sleep(waitMs, request.signal);
      }
      return inner(request);
    },
  };
}

/**
 * Waits until caches show what was just written, so that a controller never decides on a world without its own last act
 * (and makes a second Pod because it does not see the first yet).
 */
import { type KubeObject, keyOf, type Ref } from '../api/meta.ts';
import { apiVersionOf } from '../api/resource.ts';
import type { Clock } from '../base/clock.ts';
import type { Cache } from '../client/cache.ts';
import type { Written } from './apply.ts';

export type FreshnessOptions = { readonly caches: readonly Cache<KubeObject>[]; readonly clock: Clock; readonly signal: AbortSignal };

/** A write that no cache will ever show (its selector leaves it out) must not stop a key for good. */
const PATIENCE_MS = 5_000;

/** A reason of its own, because one that the engine has to make comes with a stack trace, for every write. */
const SEEN = 'seen';

type Watched = { readonly cache: Cache<KubeObject>; newest: string };

export class Freshness {
  readonly #watched: readonly Watched[];
  readonly #waiting = new Set<{ readonly isSeen: () => boolean; readonly wake: () => void }>();
  readonly #stops: readonly (() => void)[];
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor({ caches, clock, signal }: FreshnessOptions) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wakeAll(), { once: true });
    this.#watched = [...new Set(caches)].map((cache) => ({ cache, newest: NONE }));
    this.#stops = this.#watched.map((watched) =>
      watched.cache.subscribe(({ object }) => {
        // Within one kind versions only grow, so a newer one of any object means that all older ones are in.
        const version = versionOf(object);
        if (version !== undefined && isNewer(version, watched.newest)) watched.newest = version;
        for (const waiter of this.#waiting) if (waiter.isSeen()) waiter.wake();
      }),
    );
  }

  /** Resolves when the caches show these writes, or after a few seconds, or when the signal aborts. */
  async caughtUp(writes: readonly Written[]): Promise<void> {
    const looks = writes.map((written) => this.#lookFor(written));
    const isSeen = () => looks.every((look) => look());
    if (isSeen() || this.#signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { isSeen, wake: resolve };
    this.#waiting.add(waiter);
    const seen = new AbortController();
    await Promise.race([promise, this.#clock.sleep(PATIENCE_MS, seen.signal)]);
    seen.abort(SEEN);
    this.#waiting.delete(waiter);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #wakeAll(): void {
    for (const { wake } of this.#waiting) wake();
  }

  /** Whether a write is seen, as a question that costs little: it is asked again with every change that any of the caches tells of. */
  #lookFor(written: Written): () => boolean {
    const caches = this.#watched.filter(({ cache }) => isOfKind(cache, 'wrote' in written ? written.wrote : written.deleted));
    if (caches.length === 0) return () => true;
    if ('deleted' in written) return () => caches.every(({ cache }) => isGoing(cache, written.deleted));
    const version = versionOf(written.wrote);
    return () => version === undefined || caches.some(({ newest }) => !isNewer(version, newest));
  }
}

function isOfKind({ resource }: Cache<KubeObject>, { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return resource.kind === kind && apiVersionOf(resource) === apiVersion;
}

function isGoing(cache: Cache<KubeObject>, { namespace, name, uid }: Ref): boolean {
  const object = cache.get(keyOf({ namespace, name }));
  return !object || (uid !== undefined && object.metadata.uid !== uid) || object.metadata.deletionTimestamp !== undefined;
}

/** Older than any version. */
const NONE = '';

/** Versions are opaque by contract but decimal in practice; one that is not is not waited for. */
function versionOf({ metadata: { resourceVersion = '' } }: KubeObject): string | undefined {
  return /^(0|[1-9]\d*)$/.test(resourceVersion) ? resourceVersion : undefined;
}

/** Of whole numbers without zeros in front, which may be larger than a number of JavaScript can hold: the longer one, or the one that sorts later. */
function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

/** A local, always current copy of one kind: list, then watch for ever. Readers never wait on the network. */
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { type Backoff, backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { isApiError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { CacheStore, type Change } from './cache-store.ts';
import type { Client, ListOptions } from './client.ts';

export type { Change };

export type Cache<T extends KubeObject> = {
  /** What is copied here. */
  readonly resource: Resource<T>;
  /** By `keyOf(metadata)`. */
  get(key: string): T | undefined;
  list(): readonly T[];
  /** Objects for which the index function of this name gave this value. */
  byIndex(index: string, value: string): readonly T[];
  /** Called for every change after this call, and once per object already known. Returns how to stop. */
  subscribe(listener: (change: Change<T>) => void): () => void;
  /** Resolves when the first list is in; rejects when the signal aborts before that. */
  readonly synced: Promise<void>;
};

export type CacheOptions<T extends KubeObject> = ListOptions & {
  readonly client: Client;
  readonly resource: Resource<T>;
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>;
  /** The part of each object that its readers need, where the whole would cost too much. */
  readonly keep?: (object: T) => T;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Told whether the copy is as current as the server is, for who shows it to people; after a failure everything is listed again. */
  readonly onState?: (isCurrent: boolean) => void;
};

const BACKOFF: Backoff = { firstMs: 100, capMs: 30_000 };
/** A watch that fails this often in a row may have a reason that only a fresh list gets past. */
const FAILURES_BEFORE_RELIST = 5;
/** A connection that died without a word looks like a quiet one: no answer and no watch is waited on for longer. */
const LIST_LIFE_MS = 60_000;
const WATCH_LIFE_MS = 300_000;

/** Starts to copy one kind and keeps at it, whatever fails, until the signal aborts. */
export function startCache<T extends KubeObject>(options: CacheOptions<T>): Cache<T> {
  const log = options.log.with({ cache: options.resource.plural });
  const store = new CacheStore<T>({ indexes: options.indexes ?? {}, log });
  const { promise: synced, resolve, reject } = Promise.withResolvers<void>();
  synced.catch(() => {}); // whoever waits sees the rejection; nobody waiting is no error
  void keepCurrent({ ...options, log }, store, resolve).then(() => reject(options.signal.reason));
  return {
    resource: options.resource,
    get: (key) => store.get(key),
    list: () => store.list(),
    byIndex: (index, value) => store.byIndex(index, value),
    subscribe: (listener) => store.subscribe(listener),
    synced,
  };
}

async function keepCurrent<T extends KubeObject>(options: CacheOptions<T>, store: CacheStore<T>, onSynced: () => void): Promise<void> {
  const { clock, log, signal, onState, keep = withoutWriters } = options;
  let position: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      if (position === undefined) {
        const listed = await listOnce(options);
        if (signal.aborted) return;
        store.replace(listed.items.map(keep));
        position = listed.resourceVersion;
        onSynced();
        onState?.(true);
      }
      const startedAt = clock.steady();
      for await (const event of watchFrom(options, position)) {
        position = event.object.metadata.resourceVersion ?? position;
        failures = 0;
        if (event.type !== 'BOOKMARK') store.apply(event.type, keep(event.object));
      }
      // A watch that ends by itself is normal, one that ends at once is a server that must not be asked in a tight circle.
      if (clock.steady() - startedAt >= BACKOFF.capMs) failures = 0;
      else failures += 1;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      if (isExpired(error) || onState || failures % FAILURES_BEFORE_RELIST === 0) position = undefined;
      if (!isExpired(error)) onState?.(false);
      if (!isExpired(error)) log.warn('cannot list or watch, trying again', { failures, error });
    }
    if (failures > 0 && !signal.aborted) await clock.sleep(withJitter(backoffMs(BACKOFF, failures)), signal);
  }
}

/** Who wrote which field is a third and more of many objects, and no reader of a cache asks for it. */
function withoutWriters<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata as T['metadata'] & { readonly managedFields?: unknown };
  return managedFields === undefined ? object : { ...object, metadata };
}

async function listOnce<T extends KubeObject>({
  client,
  resource,
  namespace,
  labelSelector,
  fieldSelector,
  clock,
  signal,
}: CacheOptions<T>) {
  const answered = new AbortController();
  const tooLate = clock.sleep(LIST_LIFE_MS, AbortSignal.any([signal, answered.signal])).then(() => {
    throw new Error(`no answer to the list of ${resource.plural}`);
  });
  tooLate.catch(() => {}); // also ends when the answer came first
  try {
    return await Promise.race([client.list(resource, { namespace, labelSelector, fieldSelector }), tooLate]);
  } finally {
    answered.abort();
  }
}

async function* watchFrom<T extends KubeObject>(options: CacheOptions<T>, resourceVersion: string) {
  const { client, resource, namespace, labelSelector, fieldSelector, clock, signal } = options;
  const end = new AbortController();
  const stop = AbortSignal.any([signal, end.signal]);
  void clock.sleep(withJitter(2 * WATCH_LIFE_MS), stop).then(() => end.abort());
  try {
    yield* client.watch(resource, { namespace, labelSelector, fieldSelector, resourceVersion, signal: stop });
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    end.abort();
  }
}

function isExpired(error: unknown): boolean {
  return isApiError(error, 'Expired') || isApiError(error, 'Gone');
}

/** Between half and all of it, so that a thousand clients of a server that restarts do not come back in step. */
function withJitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

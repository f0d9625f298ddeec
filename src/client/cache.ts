/** A local, always current copy of one kind: list, then watch for ever. Readers never wait on the network. */
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Client, ListOptions } from './client.ts';

export type Change<T> =
  | { readonly type: 'added' | 'deleted'; readonly key: string; readonly object: T }
  | { readonly type: 'modified'; readonly key: string; readonly object: T; readonly old: T };

export type Cache<T extends KubeObject> = {
  /** By `keyOf(metadata)`. */
  get(key: string): T | undefined;
  list(): readonly T[];
  /** Objects for which the index function of this name gave this value. */
  byIndex(index: string, value: string): readonly T[];
  /** Called for every change after this call, and once per object already known. Returns how to stop. */
  subscribe(listener: (change: Change<T>) => void): () => void;
  /** Resolves when the first list is in. */
  readonly synced: Promise<void>;
};

export type CacheOptions<T extends KubeObject> = ListOptions & {
  readonly client: Client;
  readonly resource: Resource<T>;
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

export declare function startCache<T extends KubeObject>(options: CacheOptions<T>): Cache<T>;

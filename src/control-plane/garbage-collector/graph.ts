/** Everything the cluster holds, by who owns it: one cache per kind, in one store, kinds coming and going. */
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { apiVersionOf, type Resource } from '../../api/resource.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { type Change, startCache } from '../../client/cache.ts';
import { CacheStore } from '../../client/cache-store.ts';
import type { Client } from '../../client/client.ts';
import type { Discovered } from './discovery.ts';

export type GraphOptions = { readonly metadata: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

type Kind = { readonly resource: Resource; readonly stop: AbortController; readonly synced: Promise<void> };

export class Graph {
  readonly #store: CacheStore<KubeObject>;
  readonly #kinds = new Map<string, Kind>();
  readonly #options: GraphOptions;

  constructor(options: GraphOptions) {
    this.#options = options;
    this.#store = new CacheStore<KubeObject>({
      keyOf: idOf,
      indexes: {
        uid: ({ metadata }) => (metadata.uid ? [metadata.uid] : []),
        owner: ({ metadata }) => [...new Set(metadata.ownerReferences?.map(({ uid }) => uid))],
      },
      log: options.log,
    });
  }

  get(id: string): KubeObject | undefined {
    return this.#store.get(id);
  }

  byUid(uid: string): KubeObject | undefined {
    return this.#store.byIndex('uid', uid)[0];
  }

  /** Everything that names this uid as an owner. */
  dependentsOf(uid: string): readonly KubeObject[] {
    return this.#store.byIndex('owner', uid);
  }

  subscribe(listener: (change: Change<KubeObject>) => void): () => void {
    return this.#store.subscribe(listener);
  }

  get resources(): readonly Resource[] {
    return [...this.#kinds.values()].map(({ resource }) => resource);
  }

  /** The kind as it is watched here, in whatever version an owner reference names it. */
  resourceOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Resource | undefined {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    return this.resources.find((resource) => resource.group === group && resource.kind === kind);
  }

  /** Watches exactly these kinds from now on. Resolves when the new ones have been read. */
  async watch({ resources, silentGroups }: Discovered): Promise<void> {
    const wanted = new Map(resources.map((resource) => [nameOf(resource), resource]));
    for (const [name, kind] of this.#kinds) {
      if (!wanted.has(name) && !silentGroups.includes(kind.resource.group)) this.#forget(name, kind);
    }
    for (const [name, resource] of wanted) if (!this.#kinds.has(name)) this.#kinds.set(name, this.#start(resource));
    await Promise.allSettled([...this.#kinds.values()].map(({ synced }) => synced));
  }

  #start(resource: Resource): Kind {
    const { metadata: client, clock, log, signal } = this.#options;
    const stop = new AbortController();
    const cache = startCache({ client, resource, clock, log, signal: AbortSignal.any([signal, stop.signal]) });
    cache.subscribe(({ type, object }) => this.#store.apply(type === 'deleted' ? 'DELETED' : 'MODIFIED', metadataOf(resource, object)));
    return { resource, stop, synced: cache.synced };
  }

  #forget(name: string, { resource, stop }: Kind): void {
    stop.abort();
    this.#kinds.delete(name);
    const apiVersion = apiVersionOf(resource);
    for (const object of this.#store.list()) {
      if (object.kind === resource.kind && object.apiVersion === apiVersion) this.#store.apply('DELETED', object);
    }
  }
}

/** `v1 Pod default/web`: unique across kinds, and readable in a log. */
export function idOf({ apiVersion, kind, metadata }: KubeObject): string {
  return `${apiVersion} ${kind} ${keyOf(metadata)}`;
}

/** A partial object as the kind it really is. */
export function metadataOf(resource: Resource, { metadata }: KubeObject): KubeObject {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
}

function nameOf(resource: Resource): string {
  return `${resource.plural}.${apiVersionOf(resource)}`;
}

/** Who pulls for one data folder: its mirrors, the logins of whoever runs it, one download for all who want the same, and the limit of the cache. */
import { utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import { removeAbandonedPartials } from './download-blob.ts';
import { blobPath } from './layout.ts';
import { pruneImages } from './prune.ts';
import { type Pulled, type PullOptions, type PullProgress, pullImage, resolveAtRegistry } from './pull.ts';
import { type FindLogins, pullSources } from './pull-sources.ts';
import { readRegistries } from './registries-file.ts';
import { findLogin } from './registry-login.ts';
import { SharedWork } from './shared-work.ts';

export type PullRequest = {
  readonly reference: string;
  /** Tried before those of whoever runs the cluster. */
  readonly findLogins?: FindLogins;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PullProgress) => void;
};
export type ImagePuller = {
  pull(request: PullRequest): Promise<Pulled>;
  /** The digest of the name at its registry now. */
  resolve(request: PullRequest): Promise<string>;
  /** An image is used now: the ones that nobody has used for longest are the first to go. */
  touch(digest: string): void;
};

type Options = {
  /** The store: the folder of images in the data folder. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hasHostLoopback: boolean;
  /** What somebody runs, and what else is there of an image that goes; nothing is removed from the cache when left out. */
  readonly cache?: { inUse(): ReadonlySet<string>; onRemoved(digests: readonly string[]): Promise<void> };
  readonly clock?: Clock;
};

export function createImagePuller({ dir, env, hasHostLoopback, cache, clock = systemClock }: Options): ImagePuller {
  const downloads = new SharedWork<void>();
  const optionsOf = (
    { reference, findLogins = () => [], signal, onProgress }: PullRequest,
    registries = readRegistries(dirname(dir)),
  ): PullOptions => {
    const logins: FindLogins = (address, repository) => {
      const own = findLogin(address, env);
      return [...findLogins(address, repository), ...(own ? [own] : [])];
    };
    const sources = pullSources({ reference, mirrors: registries.mirrors, findLogins: logins, hasHostLoopback });
    return { dir, reference, sources, downloads, clock, signal, ...(onProgress && { onProgress }) };
  };
  return {
    async pull(request) {
      removeAbandonedPartials(dir, clock.now());
      const registries = readRegistries(dirname(dir));
      const pulled = await pullImage(optionsOf(request, registries));
      if (cache) {
        const keep = new Set([...cache.inUse(), pulled.digest]);
        await cache.onRemoved(pruneImages({ dir, maxBytes: registries.cacheBytes, keep, now: clock.now() }));
      }
      return pulled;
    },
    resolve: (request) => resolveAtRegistry(optionsOf(request)),
    touch(digest) {
      const now = clock.now() / 1000;
      try {
        utimesSync(blobPath(dir, digest), now, now);
      } catch {
        // removed meanwhile, or a disk that can only be read: then it is not younger
      }
    },
  };
}

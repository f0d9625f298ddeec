/**
 * Pulls an image from a registry into a store: the manifest first, whose bounds are checked before anything is fetched, then its blobs, then
 * the name. Under a name there is never an image with a part missing; what was fetched before a failure is used by the next try.
 */
import { statfs } from 'node:fs/promises';
import { arch } from 'node:os';
import { Readable } from 'node:stream';
import { type Clock, systemClock } from '../base/clock.ts';
import { ApiError, isApiError, UserError } from '../base/errors.ts';
import { normaliseReference, parseReference } from '../base/image-reference.ts';
import { downloadBlob, hasBlob } from './download-blob.ts';
import { type FetchedManifest, fetchManifest } from './fetch-manifest.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { addBlob, createLayout, type Descriptor } from './layout.ts';
import type { PullSource } from './pull-sources.ts';
import { openRegistry, type Registry } from './registry.ts';
import { SharedWork } from './shared-work.ts';
import { storeUnderName } from './store.ts';
import { isLayerType } from './unpack.ts';

export type PullProgress = { readonly doneBytes: number; readonly allBytes: number };
export type Pulled = { readonly digest: string; readonly sizeBytes: number; readonly registry: string };
export type PullOptions = {
  /** The store. */
  readonly dir: string;
  readonly reference: string;
  /** Asked one after the other until one has it. */
  readonly sources: readonly PullSource[];
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: PullProgress) => void;
  readonly clock?: Clock;
  readonly architecture?: string;
  /** Of all who pull into this store in this process: a blob is fetched once. */
  readonly downloads?: SharedWork<void>;
  readonly maxBytes?: number;
};

/** Of all that is fetched for one image. */
const MAX_IMAGE_BYTES = 64 * 2 ** 30;
const AT_ONCE = 3;
/** What is left free of the disk for everything else. */
const RESERVE_BYTES = 64 * 2 ** 20;

type Found = FetchedManifest & { readonly registry: Registry; readonly source: PullSource };

/** Resolves when the image is in the store under its name. */
export async function pullImage(options: PullOptions): Promise<Pulled> {
  const { dir, reference, signal = new AbortController().signal, onProgress = () => {}, clock = systemClock } = options;
  const { downloads = new SharedWork<void>() } = options;
  createLayout(dir);
  const { descriptor, bytes, manifest, registry, source } = await find(options, signal);
  const { repository } = source;
  const blobs = unique([...manifest.layers, manifest.config]);
  const allBytes = blobs.reduce((sum, { size }) => sum + size, 0);
  assertWithinBounds(manifest.layers, allBytes, options.maxBytes ?? MAX_IMAGE_BYTES);
  await assertSpace(dir, blobs);
  const here = new Map<string, number>();
  const tell = ({ digest }: Descriptor, size: number) => {
    here.set(digest, size);
    onProgress({ doneBytes: [...here.values()].reduce((sum, each) => sum + each, 0), allBytes });
  };
  const fetchBlob = async (blob: Descriptor, mine: AbortSignal): Promise<void> => {
    const download = (shared: AbortSignal) =>
      downloadBlob({ dir, blob, repository, registry, clock, signal: shared, onBytes: (size) => tell(blob, size) });
    if (!hasBlob(dir, blob)) await downloads.run(blob.digest, download, mine);
    tell(blob, blob.size);
  };
  await eachOf(blobs, fetchBlob, signal);
  await storeUnderName({
    dir,
    name: normaliseReference(reference),
    descriptor,
    manifest,
    isPulled: true,
    copy: async (blob) => {
      if (hasBlob(dir, blob)) return;
      if (blob === descriptor) await addBlob(dir, Readable.from([Buffer.from(bytes)]), signal);
      else await fetchBlob(blob, signal);
    },
  });
  return { digest: descriptor.digest, sizeBytes: allBytes, registry: source.registry };
}

/** The digest that a name stands for at its registry now, without fetching more. */
export async function resolveAtRegistry(options: PullOptions): Promise<string> {
  return (await find(options, options.signal ?? new AbortController().signal)).descriptor.digest;
}

/** With every login of every source in turn; what the last one said is the reason. */
async function find(options: PullOptions, signal: AbortSignal): Promise<Found> {
  const { reference, sources, architecture = arch() === 'x64' ? 'amd64' : arch() } = options;
  const { tag = 'latest', digest } = parseReference(reference);
  let failure: unknown = new UserError('IMAGE_NOT_PULLED', `image "${reference}" has no registry that could be asked`);
  for (const source of sources) {
    const logins = source.logins.length > 0 ? source.logins : [undefined];
    for (const login of logins) {
      const registry = openRegistry({ ...source, login, signal, doing: 'pull', fetch: guardedFetch(source.registry) });
      try {
        const found = await fetchManifest({ registry, repository: source.repository, name: digest ?? tag, architecture });
        return { ...found, registry, source };
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
        if (!isForbidden(error)) break; // another login would change nothing
      }
    }
  }
  if (!isApiError(failure, 'NotFound')) throw failure;
  throw new ApiError('NotFound', `image "${reference}" is not at its registry: ${failure.message}`, { cause: failure });
}

function isForbidden(error: unknown): boolean {
  return error instanceof UserError && error.code === 'REGISTRY_FORBIDS';
}

/** Before a byte is fetched. */
function assertWithinBounds(layers: readonly Descriptor[], allBytes: number, maxBytes: number): void {
  if (allBytes > maxBytes) throw new ApiError('Invalid', `the image is refused: it has ${allBytes} bytes, the limit is ${maxBytes}`);
  const strange = layers.find(({ mediaType }) => !isLayerType(mediaType));
  if (strange)
    throw new ApiError(
      'Invalid',
      `the image is refused: layers of type ${JSON.stringify(strange.mediaType.slice(0, 100))} are not supported`,
    );
}

async function assertSpace(dir: string, blobs: readonly Descriptor[]): Promise<void> {
  const missing = blobs.filter((blob) => !hasBlob(dir, blob)).reduce((sum, { size }) => sum + size, 0);
  const { bavail, bsize } = await statfs(dir);
  const freeBytes = bavail * bsize - RESERVE_BYTES;
  if (missing <= freeBytes) return;
  throw new UserError('DISK_FULL', `there is no space for the image in ${dir}`, {
    why: `it needs ${inMib(missing)} MiB, and ${inMib(Math.max(0, freeBytes))} MiB can be used`,
    fix: 'free some space on that disk, or remove images: virtctl image remove',
  });
}

/** A few at a time; the first failure ends all. */
async function eachOf<T>(items: readonly T[], work: (item: T, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
  const left = [...items];
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item, both);
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } finally {
    left.length = 0;
    stop.abort(new Error('another part of the image failed'));
  }
}

function unique(blobs: readonly Descriptor[]): Descriptor[] {
  return [...new Map(blobs.map((blob) => [blob.digest, blob])).values()];
}

function inMib(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}

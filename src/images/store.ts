/** The local image store: names for images, their verified blobs, and each image unpacked once per digest. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { ApiError, UserError } from '../base/errors.ts';
import { normaliseReference, parseReference, repositoryOf } from '../base/image-reference.ts';
import { identify, isSameProcess } from '../base/node/process-identity.ts';
import { readIfThereSync } from '../base/node/read-if-there.ts';
import {
  blobPath,
  changeIndex,
  closeToOthers,
  copyBlob,
  createLayout,
  type Descriptor,
  type Manifest,
  manifestIn,
  NAME_ANNOTATION,
  openBlob,
  PULLED_ANNOTATION,
  readIndex,
  readManifest,
  selectManifest,
  syncFolder,
  verifyBlob,
} from './layout.ts';
import { type ImageRoot, makeImageRoot, type RootOptions } from './root-filesystem.ts';
import { DEFAULT_LIMITS, type UnpackLimits, unpackLayers } from './unpack.ts';

export type StoredImage = { readonly reference: string; readonly digest: string; readonly sizeBytes: number };

export type ImageStore = {
  /** The manifest digest an image name stands for now; undefined when it is not here. Names that were given here are not pulled. */
  resolve(reference: string): { readonly digest: string; readonly isPulled: boolean } | undefined;
  /** Copies the image of an OCI layout folder into the store under this name. */
  importLayout(layoutDir: string, reference: string, signal?: AbortSignal): Promise<{ readonly digest: string }>;
  /** Gives an image one more name; the old holder of that name loses it. */
  tag(source: string, target: string): void;
  list(): Promise<readonly StoredImage[]>;
  /** A folder with the image's files, not to be written to; made on first use, shared by everybody after. */
  unpacked(reference: string, signal?: AbortSignal): Promise<string>;
  /** Its root filesystem and configuration, for containers; not to be written to, made on first use. */
  root(reference: string, options: RootOptions & { readonly signal?: AbortSignal }): Promise<ImageRoot>;
  /** Takes the name away; with its last name an image's blobs and files go, too. */
  remove(reference: string): void;
};

/** Opens (and if needed makes) the store in `dir` and clears away what a killed process left half unpacked. */
export function openImageStore(dir: string, limits: UnpackLimits = DEFAULT_LIMITS): ImageStore {
  createLayout(dir);
  mkdirSync(join(dir, 'unpacked'), { recursive: true, mode: 0o700 });
  closeToOthers(dir);
  removeAbandoned(join(dir, 'unpacked'));
  const unpacking = new Map<string, Promise<string>>();
  const rooting = new Map<string, Promise<ImageRoot>>();

  return {
    resolve(reference) {
      const found = find(dir, reference);
      return found && { digest: found.digest, isPulled: isPulled(found) };
    },
    async importLayout(layoutDir, reference, signal) {
      const name = normaliseReference(reference);
      const descriptor = await selectManifest(layoutDir, offeredBy(layoutDir, name), architecture());
      const manifest = await readManifest(layoutDir, descriptor);
      await storeUnderName({ dir, name, descriptor, manifest, copy: (blob) => copyBlob(layoutDir, dir, blob, signal) });
      return { digest: descriptor.digest };
    },
    tag(source, target) {
      const name = normaliseReference(target);
      changeIndex(dir, (manifests) => withName(manifests, name, { ...findOrThrow(dir, source), annotations: {} }));
    },
    async list() {
      const images = readIndex(dir).map(async (descriptor): Promise<StoredImage> => {
        const { layers } = await readManifest(dir, descriptor);
        const sizeBytes = layers.reduce((sum, layer) => sum + layer.size, 0);
        return { reference: descriptor.annotations?.[NAME_ANNOTATION] ?? '', digest: descriptor.digest, sizeBytes };
      });
      return (await Promise.all(images)).sort((a, b) => a.reference.localeCompare(b.reference));
    },
    async unpacked(reference, signal) {
      const descriptor = findOrThrow(dir, reference);
      const path = join(dir, 'unpacked', descriptor.digest.replace(':', '-'));
      if (existsSync(path)) return path;
      const running = unpacking.get(path) ?? unpack({ dir, descriptor, path, limits }).finally(() => unpacking.delete(path));
      unpacking.set(path, running);
      return untilAborted(running, signal);
    },
    root(reference, { into, shift, signal }) {
      const descriptor = findOrThrow(dir, reference);
      const key = `${descriptor.digest} ${into}`;
      const running = rooting.get(key) ?? makeImageRoot({ dir, descriptor, into, shift }).finally(() => rooting.delete(key));
      rooting.set(key, running);
      return untilAborted(running, signal);
    },
    remove(reference) {
      const name = normaliseReference(reference);
      findOrThrow(dir, name);
      removeNames(dir, new Set([name]));
    },
  };
}

/** Takes names away, and what is without a name then. */
export function removeNames(dir: string, names: ReadonlySet<string>): void {
  changeIndex(dir, (manifests) => {
    const rest = manifests.filter((each) => !names.has(each.annotations?.[NAME_ANNOTATION] ?? ''));
    for (const gone of manifests) if (!rest.some(({ digest }) => digest === gone.digest)) removeContent(dir, gone, rest);
    return rest;
  });
}

/** Stores a manifest's blobs with `copy`, then the name; a blob that a removal elsewhere took meanwhile is copied again. */
export async function storeUnderName(options: {
  readonly dir: string;
  readonly name: string;
  readonly descriptor: Descriptor;
  readonly manifest: Manifest;
  readonly isPulled?: boolean;
  readonly copy: (blob: Descriptor) => Promise<void>;
}): Promise<void> {
  const { dir, name, descriptor, manifest, copy } = options;
  const annotations: Record<string, string> = options.isPulled ? { [PULLED_ANNOTATION]: 'true' } : {};
  const blobs = [...manifest.layers, manifest.config, descriptor];
  for (let tries = 0; tries < 3; tries++) {
    for (const blob of blobs) await copy(blob);
    let isComplete = false;
    changeIndex(dir, (manifests) => {
      isComplete = blobs.every(({ digest }) => existsSync(blobPath(dir, digest)));
      return isComplete ? withName(manifests, name, { ...descriptor, annotations }) : manifests;
    });
    if (isComplete) return;
  }
  throw new ApiError('Conflict', `image ${JSON.stringify(name)} was removed while it was stored`);
}

/** The message for an image that is not here, for people. */
function missingImage(reference: string): ApiError {
  return new ApiError(
    'NotFound',
    `image "${reference}" is not in the local store; "virtctl image import" brings a disk in, "virtctl image pull" an image of a registry`,
  );
}

function find(dir: string, reference: string): Descriptor | undefined {
  const wanted = normaliseReference(reference);
  const { digest } = parseReference(reference);
  return readIndex(dir).find((descriptor) => {
    const name = descriptor.annotations?.[NAME_ANNOTATION];
    if (name === undefined) return false;
    if (name === wanted) return true; // by digest, too: an index has another digest than the manifest that was chosen from it
    return digest !== undefined && descriptor.digest === digest && repositoryOf(name) === repositoryOf(wanted);
  });
}

function findOrThrow(dir: string, reference: string): Descriptor {
  const found = find(dir, reference);
  if (!found) throw missingImage(reference);
  return found;
}

/** The old holder of the name loses it; one that was pulled is kept by its digest until the cache is full, as somebody may use it. */
function withName(manifests: readonly Descriptor[], name: string, { mediaType, digest, size, annotations }: Descriptor): Descriptor[] {
  const others = manifests.filter((each) => each.annotations?.[NAME_ANNOTATION] !== name);
  const old = manifests.find((each) => each.annotations?.[NAME_ANNOTATION] === name);
  const isOrphan = old && isPulled(old) && old.digest !== digest && !others.some((each) => each.digest === old.digest);
  const kept = isOrphan ? [{ ...old, annotations: { ...old.annotations, [NAME_ANNOTATION]: `${repositoryOf(name)}@${old.digest}` } }] : [];
  const pulled = annotations?.[PULLED_ANNOTATION];
  return [
    ...others,
    ...kept,
    { mediaType, digest, size, annotations: { [NAME_ANNOTATION]: name, ...(pulled && { [PULLED_ANNOTATION]: pulled }) } },
  ];
}

function isPulled({ annotations }: Descriptor): boolean {
  return annotations?.[PULLED_ANNOTATION] !== undefined;
}

/** What a layout offers under this name, or everything when it uses names of its own. */
function offeredBy(layoutDir: string, name: string): Descriptor[] {
  if (!existsSync(join(layoutDir, 'oci-layout'))) {
    throw new UserError('IMAGE_LAYOUT_INVALID', `${layoutDir} is not an OCI image layout`, { why: 'it has no file named oci-layout' });
  }
  const all = readIndex(layoutDir);
  const named = all.filter(({ annotations }) => annotations?.[NAME_ANNOTATION] === name);
  return named.length > 0 ? named : all;
}

type Unpacking = { readonly dir: string; readonly descriptor: Descriptor; readonly path: string; readonly limits: UnpackLimits };

/** Unpacks beside the final place and moves it there when complete, so that nobody ever sees a part of an image. */
async function unpack({ dir, descriptor, path, limits }: Unpacking): Promise<string> {
  const self = identify(process.pid);
  const temporary = join(dir, 'unpacked', `.tmp-${self?.pid}-${self?.startTime}-${randomUUID()}`);
  const { layers } = await readManifest(dir, descriptor);
  for (const layer of layers) await verifyBlob(dir, layer);
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  try {
    const opened = layers.map(({ mediaType, digest }) => ({ mediaType, open: () => openBlob(dir, digest) }));
    await unpackLayers({ layers: opened, into: temporary, limits });
    await chmod(temporary, 0o700); // root alone finds the disk in it; QEMU's user opens a hard link to that, so the file itself is readable
    await rename(temporary, path).catch((error) => {
      if (!existsSync(path)) throw error; // another process was faster: its copy is as good
    });
    await syncFolder(join(dir, 'unpacked'));
    return path;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Gives up waiting when the signal aborts; the work goes on for the others who wait for it. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Runs under the index lock, hence synchronous; blobs that other images use stay. */
function removeContent(dir: string, gone: Descriptor, rest: readonly Descriptor[]): void {
  const used = new Set(rest.flatMap((each) => blobsOf(dir, each.digest)));
  for (const digest of blobsOf(dir, gone.digest)) {
    if (!used.has(digest) && existsSync(blobPath(dir, digest))) unlinkSync(blobPath(dir, digest));
  }
  const unpacked = join(dir, 'unpacked', gone.digest.replace(':', '-'));
  if (!existsSync(unpacked)) return;
  const doomed = join(dir, 'unpacked', `.tmp-0-0-${randomUUID()}`);
  renameSync(unpacked, doomed);
  rmSync(doomed, { recursive: true, force: true });
}

/** A manifest that cannot be read (somebody emptied the folder, or a file in it) holds on to nothing but itself. */
export function blobsOf(dir: string, digest: string): string[] {
  try {
    const { config, layers } = manifestIn(JSON.parse(readIfThereSync(blobPath(dir, digest)) ?? '{}'), digest);
    return [digest, config.digest, ...layers.map((layer) => layer.digest)];
  } catch {
    return [digest];
  }
}

/** Half-unpacked images of processes that no longer run. */
function removeAbandoned(unpackedDir: string): void {
  if (!existsSync(unpackedDir)) return;
  const bootId = identify(process.pid)?.bootId ?? '';
  for (const name of readdirSync(unpackedDir)) {
    const [, pid, startTime] = /^\.tmp-(\d+)-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || startTime === undefined) continue;
    if (!isSameProcess({ pid: Number(pid), startTime, bootId })) rmSync(join(unpackedDir, name), { recursive: true, force: true });
  }
}

function architecture(): string {
  return arch() === 'x64' ? 'amd64' : arch();
}

/**
 * An OCI image layout on disk: `oci-layout`, `index.json` (which names which manifest) and `blobs/sha256/*`.
 * Blobs appear under their digest only when complete and verified; the index changes under a lock, so that the
 * embedded process and a command line tool may use one folder at the same time.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError, messageOf, UserError } from '../base/errors.ts';
import { isDigest } from '../base/image-reference.ts';
import { isObject } from '../base/json.ts';
import { writeFileDurablySync } from '../base/node/durable-file.ts';
import { tryLock } from '../base/node/file-lock.ts';
import { readIfThereSync } from '../base/node/read-if-there.ts';

/** An image may hold anything, passwords too: nobody but its owner reads it. */
const OWN_FOLDER = 0o700;
const OWN_FILE = 0o600;

export type Descriptor = {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly os?: string; readonly architecture?: string };
};
export type Manifest = { readonly config: Descriptor; readonly layers: readonly Descriptor[] };

export const NAME_ANNOTATION = 'org.opencontainers.image.ref.name';
/** Of a name that was pulled: a registry says what it stands for. Names without it were given here, and stay as they are. */
export const PULLED_ANNOTATION = 'kubevirt-ts.io/pulled';
export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
export const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
export const MAX_JSON_BYTES = 4 * 2 ** 20;
const MAX_LAYERS = 127;
const LOCK_TIMEOUT_MS = 10_000;

/** Makes an empty layout unless there is one. */
export function createLayout(dir: string): void {
  mkdirSync(join(dir, 'blobs', 'sha256'), { recursive: true, mode: OWN_FOLDER });
  if (!existsSync(join(dir, 'oci-layout'))) writeFileDurablySync(join(dir, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}\n', OWN_FILE);
  if (!existsSync(join(dir, 'index.json'))) changeIndex(dir, (manifests) => manifests);
}

/** Closes a layout that was made when others could read it. Temporary files of others come and go meanwhile. */
export function closeToOthers(dir: string): void {
  const blobs = join(dir, 'blobs');
  const close = (path: string) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found || found.isSymbolicLink() || (found.mode & 0o077) === 0) return;
    chmodSync(path, found.isDirectory() ? OWN_FOLDER : OWN_FILE);
  };
  for (const folder of [dir, blobs, join(blobs, 'sha256'), join(dir, 'unpacked')]) close(folder);
  // With the folder closed nobody new gets at these; closed as well, they stay so when the folder is copied elsewhere.
  for (const name of ['oci-layout', 'index.json', '.lock']) close(join(dir, name));
  for (const name of readdirSync(join(blobs, 'sha256'))) close(join(blobs, 'sha256', name));
}

/** What the index lists; empty when there is no index yet. */
export function readIndex(dir: string): Descriptor[] {
  const path = join(dir, 'index.json');
  const text = readIfThereSync(path);
  if (text === undefined) return [];
  try {
    return descriptorsOf(parseJson(text, path), 'manifests', path);
  } catch (error) {
    throw new UserError('IMAGE_INDEX_DAMAGED', `the list of images ${path} cannot be used`, {
      why: messageOf(error),
      fix: 'put a copy of the file back; or move it away, which forgets all names: virtctl up brings the guest images again, what was pulled is pulled again, and what was imported has to be imported again',
      cause: error,
    });
  }
}

/** Reads, changes and replaces the index while nobody else does; `change` runs at most once and must not wait for anything. */
export function changeIndex(dir: string, change: (manifests: Descriptor[]) => readonly Descriptor[]): void {
  const lock = lockIndex(dir);
  try {
    const manifests = change(readIndex(dir));
    writeFileDurablySync(
      join(dir, 'index.json'),
      `${JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests }, null, 2)}\n`,
      OWN_FILE,
    );
  } finally {
    lock.close();
  }
}

/** It works between processes. */
function lockIndex(dir: string): DatabaseSync {
  const lock = tryLock(join(dir, '.lock'), LOCK_TIMEOUT_MS);
  if (lock) return lock;
  throw new UserError('IMAGES_LOCKED', `the images in ${dir} cannot be changed`, {
    why: `somebody else has been changing them for ${LOCK_TIMEOUT_MS / 1000} seconds`,
    fix: 'try again; a disk that is very slow, or a program that was stopped, may be the cause',
  });
}

/** Where a blob is (or would be); throws for anything that is not a digest, so that the path stays inside the layout. */
export function blobPath(dir: string, digest: string): string {
  if (!isDigest(digest)) throw new ApiError('Invalid', `${JSON.stringify(digest)} is not a sha256 digest`);
  return join(dir, 'blobs', 'sha256', digest.slice('sha256:'.length));
}

/** Opens a blob for reading; never through a link. */
export function openBlob(dir: string, digest: string): Readable {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  return createReadStream(blobPath(dir, digest), { flags: flags as never, highWaterMark: 2 ** 18 }); // numbers work, the types say otherwise
}

/** Throws unless the blob is there and has the size and digest that the descriptor promises. */
export async function verifyBlob(dir: string, descriptor: Descriptor, signal?: AbortSignal): Promise<void> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of openBlob(dir, descriptor.digest) as AsyncIterable<Buffer>) {
    signal?.throwIfAborted();
    size += chunk.length;
    if (size > descriptor.size) break;
    hash.update(chunk);
  }
  const digest = `sha256:${hash.digest('hex')}`;
  if (size !== descriptor.size) throw corrupt(descriptor, `it has ${size} bytes, not ${descriptor.size}`);
  if (digest !== descriptor.digest) throw corrupt(descriptor, `its digest is ${digest}`);
}

/** Stores a stream under its own digest; the blob is durable when this resolves. */
export async function addBlob(dir: string, content: Readable, signal?: AbortSignal): Promise<{ digest: string; size: number }> {
  const temporary = join(dir, 'blobs', `.tmp-${randomUUID()}`);
  const hash = createHash('sha256');
  let size = 0;
  async function* measured(source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      size += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await pipeline(content, measured, createWriteStream(temporary, { flags: 'wx', mode: OWN_FILE, flush: true }), { signal });
    const digest = `sha256:${hash.digest('hex')}`;
    await rename(temporary, blobPath(dir, digest));
    await syncFolder(join(dir, 'blobs', 'sha256'));
    return { digest, size };
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Copies one blob between layouts, verified on the way; nothing to do when it is already there. */
export async function copyBlob(from: string, to: string, descriptor: Descriptor, signal?: AbortSignal): Promise<void> {
  if (statSync(blobPath(to, descriptor.digest), { throwIfNoEntry: false })?.size === descriptor.size) return;
  await verifyBlob(from, descriptor, signal);
  const { digest } = await addBlob(to, openBlob(from, descriptor.digest), signal);
  if (digest !== descriptor.digest) throw corrupt(descriptor, 'it changed while it was copied');
}

/** A verified manifest. */
export async function readManifest(dir: string, descriptor: Descriptor): Promise<Manifest> {
  return manifestIn(await readJsonBlob(dir, descriptor), descriptor.digest);
}

/** The parts that a manifest names, within bounds; `where` is for messages. */
export function manifestIn(json: Record<string, unknown>, where: string): Manifest {
  const layers = descriptorsOf(json, 'layers', where);
  const [config] = descriptorsOf({ config: [json['config']] }, 'config', where);
  if (layers.length > MAX_LAYERS) throw new ApiError('Invalid', `${where} has ${layers.length} layers, the limit is ${MAX_LAYERS}`);
  return { config: config!, layers }; // one in, one out
}

/** The one manifest for this machine among those offered, looked for in nested indexes too. */
export async function selectManifest(dir: string, offered: readonly Descriptor[], architecture: string, depth = 0): Promise<Descriptor> {
  const [only] = offered;
  const match =
    offered.length === 1 ? only : offered.find(({ platform }) => platform?.os === 'linux' && platform.architecture === architecture);
  if (!match) throw new ApiError('Invalid', `the layout ${dir} has no manifest for linux/${architecture}`);
  if (!/index|manifest\.list/.test(match.mediaType)) return match;
  if (depth > 1) throw corrupt(match, 'its indexes are nested too deeply');
  return selectManifest(dir, descriptorsOf(await readJsonBlob(dir, match), 'manifests', match.digest), architecture, depth + 1);
}

async function readJsonBlob(dir: string, descriptor: Descriptor): Promise<Record<string, unknown>> {
  if (descriptor.size > MAX_JSON_BYTES) throw corrupt(descriptor, `${descriptor.size} bytes are too many for a manifest`);
  await verifyBlob(dir, descriptor);
  return parseJson(readFileSync(blobPath(dir, descriptor.digest), 'utf8'), descriptor.digest);
}

function parseJson(text: string, where: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch {
    // said below
  }
  throw new ApiError('Invalid', `${where} is not a JSON object`);
}

/** A list of descriptors, each with a digest, a size and a media type; `where` is for messages. */
export function descriptorsOf(json: Record<string, unknown>, field: string, where: string): Descriptor[] {
  const list = json[field];
  if (!Array.isArray(list)) throw new ApiError('Invalid', `${where} has no ${field}`);
  return list.map((entry: unknown) => {
    const isValid =
      isObject(entry) &&
      isDigest(entry['digest']) &&
      typeof entry['mediaType'] === 'string' &&
      Number.isSafeInteger(entry['size']) &&
      (entry['size'] as number) >= 0;
    if (!isValid) throw new ApiError('Invalid', `${where} has an entry in ${field} without a valid digest, size or media type`);
    return entry as Descriptor;
  });
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function corrupt(descriptor: Descriptor, why: string): ApiError {
  return new ApiError('Invalid', `blob ${descriptor.digest} is corrupt: ${why}`);
}

/**
 * Unpacks image layers into a folder without trusting them: an image is a stranger's archive.
 *
 *   entry                                            what happens
 *   regular file, directory                          made, as 0644 and 0755, owned by us; set-id bits are dropped
 *   `.wh.NAME`, `.wh..wh..opq`                       takes away what lower layers put there
 *   symbolic or hard link, device, FIFO, sparse      refused
 *   absolute name, `..`, control character, too long refused
 *   more entries or bytes than the limits            refused, whatever the compression claims
 *
 * The folder never contains a link, so no path below it can lead out of it.
 */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { ApiError, messageOf } from '../base/errors.ts';
import { writeSparseFile } from './sparse-file.ts';

export type UnpackLimits = {
  readonly maxEntries: number;
  /** Of everything that comes out of the decompressor; zeros count, because they cost time. */
  readonly maxBytes: number;
  /** Of what is written to disk; blocks of zeros do not count. */
  readonly maxDataBytes: number;
};

export const DEFAULT_LIMITS: UnpackLimits = { maxEntries: 65_536, maxBytes: 128 * 2 ** 30, maxDataBytes: 64 * 2 ** 30 };

/** The part of tar-stream's entries that is used here. */
export type Entry = AsyncIterable<Uint8Array> & { readonly header: Header; resume(): unknown };

/** What has been used up so far, over all layers of one image. */
export type Budget = UnpackLimits & { entries: number; bytes: number; dataBytes: number };

const CHUNK_BYTES = 256 * 1024;
const MAX_NAME_BYTES = 1024;
const MAX_DEPTH = 32;
export const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
const DECOMPRESSORS: Readonly<Record<string, () => Transform | undefined>> = {
  '': () => undefined,
  '+gzip': () => createGunzip({ chunkSize: CHUNK_BYTES }),
  '.gzip': () => createGunzip({ chunkSize: CHUNK_BYTES }),
  '+zstd': () => createZstdDecompress({ chunkSize: CHUNK_BYTES }),
};
const LAYER_TYPE =
  /^application\/vnd\.(?:oci\.image\.layer(?:\.nondistributable)?\.v1\.tar|docker\.image\.rootfs\.diff\.tar)(|\+gzip|\.gzip|\+zstd)$/;

/** True for layers that can be unpacked. */
export function isLayerType(mediaType: string): boolean {
  return LAYER_TYPE.test(mediaType);
}

export type Layer = { readonly mediaType: string; readonly open: () => Readable };

/** Applies layers, lowest first, to an empty folder of ours; on failure the folder's content is of no use. */
export async function unpackLayers(options: {
  readonly layers: readonly Layer[];
  readonly into: string;
  readonly limits?: UnpackLimits;
  readonly signal?: AbortSignal;
  /** What is done with an entry; the table above when left out. */
  readonly apply?: ApplyEntry;
}): Promise<void> {
  const budget: Budget = { ...(options.limits ?? DEFAULT_LIMITS), entries: 0, bytes: 0, dataBytes: 0 };
  for (const layer of options.layers) {
    const suffix = LAYER_TYPE.exec(layer.mediaType)?.[1];
    const decompressor = suffix === undefined ? undefined : DECOMPRESSORS[suffix];
    if (!decompressor) throw refuse(`layers of type ${JSON.stringify(layer.mediaType)} are not supported`);
    await unpackLayer({
      source: layer.open(),
      decompressor: decompressor(),
      into: options.into,
      budget,
      signal: options.signal,
      apply: options.apply ?? applyEntry,
    });
  }
}

type LayerOptions = {
  readonly source: Readable;
  readonly decompressor: Transform | undefined;
  readonly into: string;
  readonly budget: Budget;
  readonly signal: AbortSignal | undefined;
  readonly apply: ApplyEntry;
};

async function unpackLayer({ source, decompressor, into, budget, signal, apply }: LayerOptions): Promise<void> {
  const archive = extract();
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      budget.bytes += chunk.length;
      if (budget.bytes > budget.maxBytes) done(refuse(`it unpacks to more than ${budget.maxBytes} bytes`));
      else done(undefined, chunk);
    },
  });
  const stages = decompressor ? [source, decompressor, counted] : [source, counted];
  const [fed, applied] = await Promise.allSettled([
    // tar-stream's Writable is one of its own make, which node's types do not know
    pipeline([...stages, archive as unknown as NodeJS.WritableStream], { signal }),
    applyEntries(archive as AsyncIterable<Entry>, { into, budget, apply }),
  ]);
  const failures = [applied, fed].filter((result) => result.status === 'rejected').map((result): unknown => result.reason);
  signal?.throwIfAborted();
  const [first = undefined] = failures;
  const known = failures.find((failure) => failure instanceof ApiError);
  if (known) throw known;
  if (failures.length > 0) throw refuse(`a layer cannot be read: ${messageOf(first)}`, first);
}

async function applyEntries(
  archive: AsyncIterable<Entry>,
  { into, budget, apply }: Pick<LayerOptions, 'into' | 'budget' | 'apply'>,
): Promise<void> {
  const written = new Set<string>();
  for await (const entry of archive) {
    budget.entries += 1;
    if (budget.entries > budget.maxEntries) throw refuse(`it has more than ${budget.maxEntries} entries`);
    await apply({ entry, into, budget, written });
    entry.resume(); // an entry that was not read (a directory with a body) must not hold up the next
  }
}

export type EntryOptions = { readonly entry: Entry; readonly into: string; readonly budget: Budget; readonly written: Set<string> };
export type ApplyEntry = (options: EntryOptions) => Promise<void>;

async function applyEntry({ entry, into, budget, written }: EntryOptions): Promise<void> {
  const { name, type, size = 0, pax } = entry.header;
  const parts = partsOf(name);
  const isDirectory = type === 'directory' || (type === 'file' && name.endsWith('/'));
  if (type !== 'file' && type !== 'directory')
    throw refuse(`entry ${quote(name)} is a ${type ?? 'thing of unknown type'}, not a file or directory`);
  if (pax && Object.keys(pax).some((key) => key.startsWith('GNU.sparse'))) throw refuse(`entry ${quote(name)} is in GNU sparse format`);
  if (size > budget.maxBytes) throw refuse(`entry ${quote(name)} claims ${size} bytes, the limit is ${budget.maxBytes}`);

  const base = parts.at(-1) ?? '';
  if (base.startsWith(WHITEOUT)) return takeAway({ into, parts, base, written });
  if (isDirectory) return makeFolders({ into, parts, name, written });

  if (parts.length === 0) throw refuse(`entry ${quote(name)} has no name`);
  await makeFolders({ into, parts: parts.slice(0, -1), name, written });
  const path = join(into, ...parts);
  await rm(path, { recursive: true, force: true }); // a lower layer's; replaced as a whole
  written.add(parts.join('/'));
  const { sizeBytes } = await writeSparseFile({
    path,
    content: entry,
    account(bytes) {
      budget.dataBytes += bytes;
      if (budget.dataBytes > budget.maxDataBytes) throw refuse(`it holds more than ${budget.maxDataBytes} bytes of data`);
    },
  });
  if (sizeBytes !== size) throw refuse(`entry ${quote(name)} ends after ${sizeBytes} of ${size} bytes`);
}

/** The segments of an entry's name; `./a/b/` is a, b. */
export function partsOf(name: string, maxDepth = MAX_DEPTH): string[] {
  if (name.startsWith('/')) throw refuse(`entry ${quote(name)} has an absolute name`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f\ufffd]/.test(name)) throw refuse(`entry ${quote(name)} has a control character or invalid text in its name`);
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw refuse(`entry ${quote(name)} has a name longer than ${MAX_NAME_BYTES} bytes`);
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refuse(`entry ${quote(name)} leads out of the image`);
  if (parts.length > maxDepth) throw refuse(`entry ${quote(name)} is more than ${maxDepth} folders deep`);
  if (parts.some((part) => Buffer.byteLength(part) > 255)) throw refuse(`entry ${quote(name)} has a name longer than 255 bytes`);
  return parts;
}

type Folders = { readonly into: string; readonly parts: readonly string[]; readonly name: string; readonly written: Set<string> };

export async function makeFolders({ into, parts, name, written }: Folders): Promise<void> {
  for (let depth = 1; depth <= parts.length; depth++) {
    const relative = parts.slice(0, depth).join('/');
    const path = join(into, relative);
    const found = await kindOf(path);
    if (found === 'file' && written.has(relative)) throw refuse(`entry ${quote(name)} lies below a file`);
    if (found === 'file') await rm(path);
    if (found !== 'folder') await mkdir(path, { mode: 0o755 });
    written.add(relative);
  }
}

type Whiteout = { readonly into: string; readonly parts: readonly string[]; readonly base: string; readonly written: ReadonlySet<string> };

/** A whiteout speaks about lower layers only: what this layer has written itself stays. */
export async function takeAway({ into, parts, base, written }: Whiteout): Promise<void> {
  const folder = parts.slice(0, -1);
  if (base === OPAQUE) return removeLower({ into, relative: folder.join('/'), written, keepItself: true });
  const victim = base.slice(WHITEOUT.length);
  if (victim === '' || victim === '.' || victim === '..') throw refuse(`entry ${quote(parts.join('/'))} leads out of the image`);
  if (victim.startsWith(WHITEOUT)) return; // reserved names without a meaning here
  return removeLower({ into, relative: [...folder, victim].join('/'), written, keepItself: false });
}

type Removal = { readonly into: string; readonly relative: string; readonly written: ReadonlySet<string>; readonly keepItself: boolean };

async function removeLower({ into, relative, written, keepItself }: Removal): Promise<void> {
  const path = join(into, relative);
  const found = await kindOf(path);
  if (found === undefined) return;
  const stays = keepItself || written.has(relative);
  if (!stays) return rm(path, { recursive: true, force: true });
  if (found === 'file') return;
  for (const name of await readdir(path)) {
    const child = relative === '' ? name : `${relative}/${name}`;
    await removeLower({ into, relative: child, written, keepItself: false });
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats) return undefined;
  return stats.isDirectory() ? 'folder' : 'file';
}

export function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
}

export function refuse(why: string, cause?: unknown): ApiError {
  return new ApiError('Invalid', `the image is refused: ${why}`, { cause });
}

/** Builds OCI images from files on disk: how guest images get into the store, and our own into a cluster, without any other tool. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { arch } from 'node:os';
import { dirname } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { QEMU_USER } from '../api/launcher/compute.ts';
import { normaliseReference } from '../base/image-reference.ts';
import { addBlob, copyBlob, createLayout, type Descriptor, MANIFEST_TYPE, type Manifest } from './layout.ts';
import type { RunConfig } from './run-config.ts';
import { storeUnderName } from './store.ts';

export type ImageFile = {
  /** Its name in the image: `disk/disk.qcow2`. */
  readonly name: string;
  /** 0o644 when not given, 0o755 for a folder. */
  readonly mode?: number;
} & (
  | {
      /** The file on disk. */
      readonly path: string;
    }
  | { readonly content: string }
  | { readonly linkTo: string }
  | { readonly isFolder: true }
);

const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar';
const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
const COMPRESSORS = { none: undefined, gzip: createGzip, zstd: createZstdCompress } as const;

type WriteOptions = {
  readonly dir: string;
  readonly reference: string;
  readonly compression?: keyof typeof COMPRESSORS;
  readonly signal?: AbortSignal;
  /** Told how much of the file that is being written has been read. */
  readonly onRead?: OnRead;
};
type OnRead = (readBytes: number, ofBytes: number) => void;

/**
 * Writes an image of one layer into the layout (or store) `dir` under `reference`; the same files give the same digest. The files belong to
 * QEMU's user: unpacking ignores it, other tools do not.
 */
export function writeImage(
  options: WriteOptions & { readonly files: readonly ImageFile[]; readonly labels?: Readonly<Record<string, string>> },
): Promise<{ readonly digest: string }> {
  const { files, labels, ...rest } = options;
  return writeLayeredImage({ ...rest, layers: [files], owner: QEMU_USER, config: { Labels: labels } });
}

type WrittenLayer = { readonly dir: string; readonly layer: Descriptor; readonly diffId: string };
/** Layers by their files, which whoever writes several images compresses once. */
export type WrittenLayers = Map<readonly ImageFile[], WrittenLayer>;

/** Writes an image of several layers, which other images may share: those in `written` are copied, and new ones added to it. */
export async function writeLayeredImage(
  options: WriteOptions & {
    readonly layers: readonly (readonly ImageFile[])[];
    readonly owner: number;
    readonly config: RunConfig;
    readonly written?: WrittenLayers;
  },
): Promise<{ readonly digest: string }> {
  const { dir, reference, layers, owner, config: run, compression = 'gzip', signal, onRead } = options;
  const name = normaliseReference(reference);
  createLayout(dir);
  const own: WrittenLayer[] = [];
  for (const files of layers) {
    const before = options.written?.get(files);
    if (before) await copyBlob(before.dir, dir, before.layer, signal);
    const layer = before ?? { dir, ...(await writeLayer({ dir, files, owner, compression, signal, onRead })) };
    options.written?.set(files, layer);
    own.push(layer);
  }
  const architecture = arch() === 'x64' ? 'amd64' : arch();
  const config = await writeJson(dir, CONFIG_TYPE, {
    architecture,
    os: 'linux',
    config: run,
    rootfs: { type: 'layers', diff_ids: own.map(({ diffId }) => diffId) },
  });
  const manifest: Manifest = { config, layers: own.map(({ layer }) => layer) };
  const descriptor = await writeJson(dir, MANIFEST_TYPE, { schemaVersion: 2, mediaType: MANIFEST_TYPE, ...manifest });
  await storeUnderName({ dir, name, descriptor, manifest, copy: async () => {} });
  return { digest: descriptor.digest };
}

type LayerOptions = {
  readonly dir: string;
  readonly files: readonly ImageFile[];
  readonly owner: number;
  readonly compression: keyof typeof COMPRESSORS;
  readonly signal: AbortSignal | undefined;
  readonly onRead: OnRead | undefined;
};

async function writeLayer(options: LayerOptions): Promise<{ layer: Descriptor; diffId: string }> {
  const { dir, compression, signal } = options;
  const archive = pack();
  const hash = createHash('sha256');
  async function* hashed(source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const compressor = COMPRESSORS[compression]?.() ?? new PassThrough();
  const [blob] = await Promise.all([
    addBlob(dir, compressor, signal),
    // tar-stream's Readable is one of its own make, which node's types do not know
    pipeline(archive as AsyncIterable<Buffer>, hashed, compressor, { signal }),
    addFiles(archive, options).catch((error: Error) => {
      archive.destroy(error);
      throw error;
    }),
  ]);
  const mediaType = compression === 'none' ? LAYER_TYPE : `${LAYER_TYPE}+${compression}`;
  return { layer: { mediaType, ...blob }, diffId: `sha256:${hash.digest('hex')}` };
}

async function addFiles(archive: Pack, { files, owner: id, onRead }: LayerOptions): Promise<void> {
  const owner = { uid: id, gid: id, mtime: new Date(0) };
  const named = new Set(files.map(({ name }) => name));
  const folders = new Set(files.flatMap(({ name }) => parentsOf(name)).filter((name) => !named.has(name)));
  for (const folder of [...folders].sort()) archive.entry({ name: `${folder}/`, type: 'directory', mode: 0o755, ...owner });
  for (const file of files) {
    const { name, mode = 0o644 } = file;
    if ('isFolder' in file) archive.entry({ name: `${name}/`, type: 'directory', mode: file.mode ?? 0o755, ...owner });
    else if ('linkTo' in file) archive.entry({ name, type: 'symlink', linkname: file.linkTo, mode: 0o777, ...owner });
    else if ('content' in file) archive.entry({ name, mode, ...owner }, file.content);
    else {
      const { size } = await stat(file.path);
      const entry = archive.entry({ name, size, mode, ...owner });
      const source = createReadStream(file.path);
      if (onRead) source.on('data', () => onRead(source.bytesRead, size));
      await pipeline(source, entry as unknown as NodeJS.WritableStream);
    }
  }
  archive.finalize();
}

function parentsOf(name: string): string[] {
  const parent = dirname(name);
  return parent === '.' ? [] : [...parentsOf(parent), parent];
}

async function writeJson(dir: string, mediaType: string, value: object): Promise<Descriptor> {
  return { mediaType, ...(await addBlob(dir, Readable.from([Buffer.from(JSON.stringify(value))]))) };
}

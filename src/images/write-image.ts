/** Builds a one-layer OCI image from files on disk: how guest images get into the store without any other tool. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { arch } from 'node:os';
import { dirname } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { addBlob, createLayout, type Descriptor, MANIFEST_TYPE, type Manifest } from './layout.ts';
import { normaliseReference } from './references.ts';
import { storeUnderName } from './store.ts';

export type ImageFile = {
  /** The file on disk. */
  readonly path: string;
  /** Its name in the image: `disk/disk.qcow2`. */
  readonly name: string;
};

const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar';
const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
const COMPRESSORS = { none: undefined, gzip: createGzip, zstd: createZstdCompress } as const;
/** The user that QEMU runs as; unpacking ignores it, other tools do not. */
const QEMU_USER = 107;

/** Writes the image into the layout (or store) `dir` under `reference`; the same files give the same digest. */
export async function writeImage(options: {
  readonly dir: string;
  readonly reference: string;
  readonly files: readonly ImageFile[];
  readonly compression?: keyof typeof COMPRESSORS;
  readonly labels?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}): Promise<{ readonly digest: string }> {
  const { dir, reference, files, compression = 'gzip', labels, signal } = options;
  const name = normaliseReference(reference);
  createLayout(dir);

  const { layer, diffId } = await writeLayer({ dir, files, compression, signal });
  const architecture = arch() === 'x64' ? 'amd64' : arch();
  const config = await writeJson(dir, CONFIG_TYPE, {
    architecture,
    os: 'linux',
    config: { Labels: labels },
    rootfs: { type: 'layers', diff_ids: [diffId] },
  });
  const manifest: Manifest = { config, layers: [layer] };
  const descriptor = await writeJson(dir, MANIFEST_TYPE, { schemaVersion: 2, mediaType: MANIFEST_TYPE, ...manifest });
  await storeUnderName({ dir, name, descriptor, manifest, copy: async () => {} });
  return { digest: descriptor.digest };
}

type LayerOptions = {
  readonly dir: string;
  readonly files: readonly ImageFile[];
  readonly compression: keyof typeof COMPRESSORS;
  readonly signal: AbortSignal | undefined;
};

async function writeLayer({ dir, files, compression, signal }: LayerOptions): Promise<{ layer: Descriptor; diffId: string }> {
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
    addFiles(archive, files).catch((error: Error) => {
      archive.destroy(error);
      throw error;
    }),
  ]);
  const mediaType = compression === 'none' ? LAYER_TYPE : `${LAYER_TYPE}+${compression}`;
  return { layer: { mediaType, ...blob }, diffId: `sha256:${hash.digest('hex')}` };
}

async function addFiles(archive: Pack, files: readonly ImageFile[]): Promise<void> {
  const owner = { uid: QEMU_USER, gid: QEMU_USER, mtime: new Date(0) };
  const folders = new Set(files.flatMap(({ name }) => parentsOf(name)));
  for (const folder of [...folders].sort()) archive.entry({ name: `${folder}/`, type: 'directory', mode: 0o755, ...owner });
  for (const { path, name } of files) {
    const { size } = await stat(path);
    const entry = archive.entry({ name, size, mode: 0o644, ...owner });
    await pipeline(createReadStream(path), entry as unknown as NodeJS.WritableStream);
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

/** Brings what people have into a store: an OCI layout folder, an archive of one, what `docker save` writes, or a bare disk. */
import { existsSync } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { UserError } from '../base/errors.ts';
import { unpackArchive } from './archive.ts';
import { importDockerArchive } from './docker-archive.ts';
import { openImageStore } from './store.ts';
import { writeImage } from './write-image.ts';

type Options = {
  readonly storeDir: string;
  readonly path: string;
  readonly reference: string;
  /** Told how much of a disk has been read. */
  readonly onRead?: (readBytes: number, ofBytes: number) => void;
  readonly signal?: AbortSignal;
};

const QCOW2 = Buffer.from([0x51, 0x46, 0x49, 0xfb]);
const GZIP = Buffer.from([0x1f, 0x8b]);
const SECTOR = 512;

/** Imports a file or folder under this name, whatever kind of image it is; a UserError when it is none. */
export async function importImage(options: Options): Promise<{ readonly digest: string }> {
  const { storeDir, path, reference, signal, onRead } = options;
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UserError('FILE_MISSING', `cannot read ${path}`, { why: error.code ?? error.message, exitCode: 3, cause: error });
  });
  if (info.isDirectory()) return openImageStore(storeDir).importLayout(path, reference, signal);
  const start = await firstBytes(path);
  if (isArchive(start)) return importArchive(options);
  const isQcow2 = start.subarray(0, 4).equals(QCOW2);
  if (!isQcow2 && (info.size === 0 || info.size % SECTOR !== 0))
    throw notAnImage(path, 'a raw disk consists of whole sectors of 512 bytes');
  const name = isQcow2 ? 'disk/disk.qcow2' : 'disk/disk.img';
  return writeImage({ dir: storeDir, reference, files: [{ path, name }], ...(signal && { signal }), ...(onRead && { onRead }) });
}

async function importArchive({ storeDir, path, reference, signal }: Options): Promise<{ readonly digest: string }> {
  // Beside the store, so that it is the same file system and goes with it.
  const folder = await mkdtemp(join(storeDir, '.import-'));
  try {
    await unpackArchive({ path, into: folder, signal });
    if (existsSync(join(folder, 'oci-layout'))) return await openImageStore(storeDir).importLayout(folder, reference, signal);
    if (existsSync(join(folder, 'manifest.json'))) return await importDockerArchive({ folder, storeDir, reference, signal });
    throw notAnImage(path, 'the archive has neither oci-layout nor manifest.json');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SECTOR), 0, SECTOR, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Every tar of today says `ustar` in its first header. */
function isArchive(start: Buffer): boolean {
  return start.subarray(0, 2).equals(GZIP) || start.toString('latin1', 257, 262) === 'ustar';
}

function notAnImage(path: string, why: string): UserError {
  return new UserError('NOT_AN_IMAGE', `${basename(path)} is no image that can be imported`, {
    why,
    fix: 'give a raw or qcow2 disk, an OCI layout folder, or an archive made by docker save, podman save or skopeo',
  });
}

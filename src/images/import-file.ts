/** Brings what people have into a store: an OCI layout folder, an archive of one, what `docker save` writes, a machine as OVA, or a bare disk. */
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UserError } from '../base/errors.ts';
import { unpackArchive } from './archive.ts';
import { importDockerArchive } from './docker-archive.ts';
import { foreignFormatOf } from './foreign-formats-table.ts';
import { ARCHIVE_START_BYTES, isOva, isTar } from './import/archive-start.ts';
import { type ImportOptions, importDisk } from './import/import-disk.ts';

import { withWorkFolder } from './import/work-folder.ts';
import { openImageStore } from './store.ts';

type Options = {
  readonly storeDir: string;
  readonly path: string;
  readonly reference: string;
  /** Where programs are looked for that unpack and convert. */
  readonly searchPath?: string | undefined;
  /** Told how far it is with a disk. */
  readonly onStage?: ImportOptions['onStage'];
  readonly onNote?: ImportOptions['onNote'];
  readonly signal?: AbortSignal;
  /** Of the layer that is made of a disk. */
  readonly compression?: ImportOptions['compression'];
};

/** Imports a file or folder under this name, whatever kind of image it is; a UserError when it is none. */
export async function importImage(options: Options): Promise<{ readonly digest: string }> {
  const { storeDir, path, reference, searchPath, compression = 'gzip', signal = new AbortController().signal } = options;
  const told = { ...(options.onStage && { onStage: options.onStage }), ...(options.onNote && { onNote: options.onNote }) };
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UserError('FILE_MISSING', `cannot read ${path}`, { why: error.code ?? error.message, exitCode: 3, cause: error });
  });
  if (info.isDirectory()) return openImageStore(storeDir).importLayout(path, reference, signal);
  if (!info.isFile()) throw notAnImage(path, 'it is neither a file nor a folder');
  if (await isImageArchive(path)) return importArchive(options);
  return importDisk({ storeDir, path, name: basename(path), reference, compression, searchPath, signal, ...told });
}

async function importArchive({ storeDir, path, reference, signal }: Options): Promise<{ readonly digest: string }> {
  return withWorkFolder(storeDir, async (folder) => {
    await unpackArchive({ path, into: folder, signal });
    if (existsSync(join(folder, 'oci-layout'))) return openImageStore(storeDir).importLayout(folder, reference, signal);
    if (existsSync(join(folder, 'manifest.json'))) return importDockerArchive({ folder, storeDir, reference, signal });
    throw notAnImage(
      path,
      'the archive has neither oci-layout nor manifest.json, and does not begin with the description or a disk of a machine',
    );
  });
}

/** Every tar of today says `ustar` in its first header; compressed or not. That of a machine is brought in as a disk. */
async function isImageArchive(path: string): Promise<boolean> {
  const start = await firstBytes(createReadStream(path));
  const plain = foreignFormatOf(start) === 'gzip' ? await firstBytes(pipeline(createReadStream(path), createGunzip(), () => {})) : start;
  return isTar(plain) && !isOva(plain);
}

/** Fewer where there are not so many, or what is there is damaged: who reads all of it says so. */
async function firstBytes(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= ARCHIVE_START_BYTES) break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) throw error;
  }
  return Buffer.concat(chunks).subarray(0, ARCHIVE_START_BYTES);
}

function notAnImage(path: string, why: string): UserError {
  return new UserError('NOT_AN_IMAGE', `${basename(path)} is no image that can be imported`, {
    why,
    fix: 'give a raw, qcow2, VMDK or VHDX disk, an OVA, an OCI layout folder, or an archive made by docker save, podman save or skopeo',
  });
}

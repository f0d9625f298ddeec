/** Unpacks the archive of an image: plain files only, under plain names, nowhere but below the given folder. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { UserError } from '../base/errors.ts';

/** What tools write: `blobs/sha256/…`, `index.json`, `3f2a…/layer.tar`. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,5}$/;

/** Unpacks a tar file, compressed with gzip or not, into an empty folder. */
export async function unpackArchive(options: { path: string; into: string; signal: AbortSignal | undefined }): Promise<void> {
  const { path, into, signal } = options;
  const entries = extract();
  const unpacked = (async () => {
    for await (const entry of entries) {
      const { name, type } = entry.header;
      if (type === 'directory') entry.resume();
      else if (type === 'symlink' && name.endsWith('/layer.tar'))
        entry.resume(); // old docker: a layer that is there under another name
      else if (type !== 'file') throw refused(name, `it is a ${type}`);
      else await write(entry as AsyncIterable<Buffer>, placeOf(into, name.replace(/^\.\//, '')));
    }
  })();
  const decompress = (await isGzip(path)) ? createGunzip() : new PassThrough();
  // tar-stream's Writable is one of its own make, which node's types do not know
  await Promise.all([pipeline(createReadStream(path), decompress, entries as unknown as NodeJS.WritableStream, { signal }), unpacked]);
}

async function write(entry: AsyncIterable<Buffer>, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await pipeline(entry, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
}

function placeOf(into: string, name: string): string {
  if (!NAME.test(name)) throw refused(name, 'its name is none that an image has');
  return join(into, name);
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.readUInt16BE(0) === 0x1f8b;
  } finally {
    await file.close();
  }
}

function refused(name: string, why: string): UserError {
  return new UserError('ARCHIVE_REFUSED', `the archive has an entry ${JSON.stringify(name.slice(0, 100))} that is refused`, { why });
}

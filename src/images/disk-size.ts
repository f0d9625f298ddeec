/** How large the disk in an image of the store is, as its guest sees it. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isQcow2, readQcow2Size } from './qcow2-header.ts';
import { openImageStore } from './store.ts';

const HEADER_BYTES = 512;

/** Unpacks the image, which its first machine needs anyway. Undefined for an image without the one file that is a disk. */
export async function diskSizeOf(storeDir: string, reference: string, signal?: AbortSignal): Promise<number | undefined> {
  const folder = join(await openImageStore(storeDir).unpacked(reference, signal), 'disk');
  const [name, ...others] = await readdir(folder);
  if (name === undefined || others.length > 0) return undefined;
  const file = await open(join(folder, name));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const start = buffer.subarray(0, bytesRead);
    return isQcow2(start) ? readQcow2Size(start, name) : (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Small files that a launcher leaves beside its QEMU. What is there was written by whoever runs in the Pod. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

const MOST_BYTES = 64 * 1024;

/** Undefined for one that is not there, as of an earlier release, or is no such file. */
export async function textIn(folder: string, name: string): Promise<string | undefined> {
  const file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    return stat.isFile() && stat.size <= MOST_BYTES ? await file.readFile('utf8') : undefined;
  } finally {
    await file.close();
  }
}

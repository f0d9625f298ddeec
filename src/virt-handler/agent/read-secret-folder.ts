/**
 * The values of a Secret, where a kubelet put them. On the embedded node a folder that an earlier version made belongs to the user that QEMU runs as,
 * and a guest that broke out of its QEMU could put a link to a file of the host there; so links are followed only in folders that are not QEMU's.
 */
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../qemu/qmp/connect-socket.ts';
import type { SecretValues } from './credentials.ts';

const MOST_FILES = 256;
const MOST_BYTES = 64 * 1024;

/** Undefined when the folder is not there (yet). Throws for a file that is none. */
export async function readSecretFolder(folder: string): Promise<SecretValues | undefined> {
  try {
    const { uid } = await stat(folder);
    const isTrusted = uid === process.getuid?.();
    // Names that begin with two dots are the kubelet's own.
    const names = (await readdir(folder)).filter((name) => !name.startsWith('..')).sort();
    const values = new Map<string, Buffer>();
    for (const name of names.slice(0, MOST_FILES)) values.set(name, await readValue(join(folder, name), isTrusted));
    return values;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readValue(path: string, isTrusted: boolean): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | (isTrusted ? 0 : constants.O_NOFOLLOW));
  try {
    const info = await file.stat();
    if (!info.isFile() || info.size > MOST_BYTES || (!isTrusted && info.nlink !== 1))
      throw new Error('a value of a Secret is not a file of ordinary size');
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/**
 * The file in which QEMU keeps what the guest wrote to its serial port. QEMU appends (O_APPEND), so the file may be cut in
 * place. It lies in a folder that the guest's process may write to: only a plain file with one name is ever touched.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The last bytes of the log, and how long it is; nothing when there is none. */
export async function readTail(path: string, maxBytes: number): Promise<{ readonly bytes: Buffer; readonly end: number }> {
  const file = await openPlainFile(path, constants.O_RDONLY);
  try {
    if (!file) return { bytes: Buffer.alloc(0), end: 0 };
    const { size } = await file.stat();
    const from = Math.max(0, size - maxBytes);
    const bytes = await readAt(file, from, size - from);
    return { bytes, end: from + bytes.length };
  } finally {
    await file?.close();
  }
}

/** What was written after its first bytes; nothing when it is shorter than that, or not there. */
export async function readSince(path: string, from: number, maxBytes: number): Promise<Buffer> {
  const file = await openPlainFile(path, constants.O_RDONLY);
  try {
    return file ? await readAt(file, from, Math.min(maxBytes, Math.max(0, (await file.stat()).size - from))) : Buffer.alloc(0);
  } finally {
    await file?.close();
  }
}

/** Cuts a log that has grown over `capBytes` to its last `keepBytes`. What QEMU writes in between may end up before them, or be lost. */
export async function trimLog(
  path: string,
  { capBytes, keepBytes }: { readonly capBytes: number; readonly keepBytes: number },
): Promise<void> {
  const file = await openPlainFile(path, constants.O_RDWR | constants.O_APPEND);
  try {
    if (!file) return;
    const { size } = await file.stat();
    if (size <= capBytes) return;
    const kept = await readAt(file, Math.max(0, size - keepBytes), Math.min(size, keepBytes));
    await file.truncate(0);
    await file.appendFile(kept);
  } finally {
    await file?.close();
  }
}

/** Adds to the log what the guest printed elsewhere. */
export async function appendLog(path: string, bytes: Buffer): Promise<void> {
  const file = await openPlainFile(path, constants.O_WRONLY | constants.O_APPEND);
  try {
    await file?.appendFile(bytes);
  } finally {
    await file?.close();
  }
}

/** Does not follow a symlink and does not wait on a FIFO. */
export async function openPlainFile(path: string, flags: number): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined; // not there, or not what it should be: either way there is no log
  }
  const stat = await file.stat();
  if (stat.isFile() && stat.nlink === 1) return file;
  await file.close();
  return undefined;
}

async function readAt(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/** Sends a file of this machine to a PVC: sdk/upload says how. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { type RunningDigest, type SendOptions, sendDisk } from '../../sdk/upload/send-disk.ts';

type FileOptions = Omit<SendOptions, 'disk' | 'newDigest'> & {
  readonly path: string;
  /** The part of the file that is sent; all of it when not given. */
  readonly slice?: { readonly at: number; readonly bytes: number };
};

/** Resolves when the PVC has the disk; a UserError with the reason when it is not taken. */
export async function sendFile({ path, slice, ...options }: FileOptions): Promise<{ readonly resumedBytes: number }> {
  const file = await open(path);
  try {
    const { at, bytes: sizeBytes } = slice ?? { at: 0, bytes: (await file.stat()).size };
    const read = async (from: number, length: number) => {
      const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, at + from);
      return buffer.subarray(0, bytesRead);
    };
    return await sendDisk({ ...options, disk: { label: path, sizeBytes, read }, newDigest });
  } finally {
    await file.close();
  }
}

function newDigest(): RunningDigest {
  const hash = createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.copy().digest('hex') };
}

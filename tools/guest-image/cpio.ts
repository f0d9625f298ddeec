/** Writes the archive format of initramfs images (cpio, "newc"). */
export type CpioEntry = {
  readonly name: string;
  readonly mode: number;
  readonly data: Uint8Array;
  readonly device?: { readonly major: number; readonly minor: number };
};

export const MODE_FILE = 0o100000;
export const MODE_DIRECTORY = 0o040000;
export const MODE_LINK = 0o120000;
export const MODE_CHARACTER_DEVICE = 0o020000;

/** The archive as one buffer. Times are zero, so that the same input gives the same bytes. */
export function writeCpio(entries: readonly CpioEntry[]): Buffer {
  const parts: Buffer[] = [];
  entries.forEach((entry, index) => {
    parts.push(...record(entry, index + 1));
  });
  parts.push(...record({ name: 'TRAILER!!!', mode: 0, data: Buffer.alloc(0) }, 0));
  return Buffer.concat(parts);
}

function record({ name, mode, data, device }: CpioEntry, inode: number): Buffer[] {
  const fields = [inode, mode, 0, 0, 1, 0, data.length, 0, 0, device?.major ?? 0, device?.minor ?? 0, Buffer.byteLength(name) + 1, 0];
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0').toUpperCase()).join('')}`;
  return [padded(Buffer.from(`${header}${name}\0`)), padded(Buffer.from(data))];
}

function padded(buffer: Buffer): Buffer {
  const rest = buffer.length % 4;
  return rest === 0 ? buffer : Buffer.concat([buffer, Buffer.alloc(4 - rest)]);
}

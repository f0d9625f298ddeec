/**
 * What a disk image is. Images that nobody writes to are known by their first bytes, disks that a guest writes to by what we know of them.
 * Only raw and qcow2 are run; the format goes to QEMU in words, it never guesses.
 */
import { fstatSync, readSync } from 'node:fs';
import { UserError } from '../base/errors.ts';
import { foreignFormatOf } from '../images/foreign-formats-table.ts';
import { isQcow2, readQcow2Size } from '../images/qcow2-header.ts';
import type { ImageFormat } from '../qemu/convert/input.ts';

export type ImageFacts = { readonly format: ImageFormat; readonly sizeBytes: number };

/** Format and size of an image that no guest has written to; a UserError when it is not to be run. */
export function readImageFacts(file: number, name: string): ImageFacts {
  const { size, start } = beginningOf(file, name);
  if (isQcow2(start)) return { format: 'qcow2', sizeBytes: readQcow2Size(start, name) };
  const other = foreignFormatOf(start);
  if (!other) return { format: 'raw', sizeBytes: size };
  throw new UserError('IMAGE_UNSUPPORTED', `disk image ${name} is refused`, {
    why: `it is ${other}, only raw and qcow2 are run`,
    fix: 'convert it with qemu-img convert -O qcow2',
  });
}

/** The size of a disk whose format is known; a UserError when it is not of that format. A raw disk is raw whatever it begins with. */
export function factsAs(format: ImageFormat, file: number, name: string): ImageFacts {
  const { size, start } = beginningOf(file, name);
  if (format === 'raw') return { format, sizeBytes: size };
  if (isQcow2(start)) return { format, sizeBytes: readQcow2Size(start, name) };
  throw new UserError('DISK_FORMAT_MISMATCH', `disk ${name} is refused`, {
    why: 'it is said to be qcow2 and does not begin like that',
    fix: 'put a qcow2 disk there, or take the annotation kubevirt.io/disk-format off its PVC',
  });
}

function beginningOf(file: number, name: string): { readonly size: number; readonly start: Buffer } {
  const { size } = fstatSync(file);
  if (size === 0) throw new UserError('IMAGE_EMPTY', `disk image ${name} is refused`, { why: 'the file has no content' });
  const buffer = Buffer.alloc(512);
  return { size, start: buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0)) };
}

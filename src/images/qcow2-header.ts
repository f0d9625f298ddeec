/**
 * The header of a qcow2 image from elsewhere, which must not lead QEMU to any other file.
 * Layout: https://gitlab.com/qemu-project/qemu/-/blob/master/docs/interop/qcow2.txt
 */
import { UserError } from '../base/errors.ts';

export const QCOW2_MAGIC = 0x514649fb; // "QFI\xfb"
const HEADER_LENGTH = 104;
/** Bits of incompatible_features: what QEMU must understand to read an image. */
const CORRUPT = 2n;
const EXTERNAL_DATA_FILE = 4n;
const UNDERSTOOD = 0b11111n;
/** More than any disk in use, and far below what makes QEMU allocate tables for minutes. */
export const MOST_BYTES = 64 * 2 ** 40;
const MOST_SNAPSHOTS = 1024;
const FIX = 'get it again, or make one whole file of it where it was made: qemu-img convert -O qcow2';

/** True when a file begins like a qcow2 image. */
export function isQcow2(start: Buffer): boolean {
  return start.length >= 4 && start.readUInt32BE(0) === QCOW2_MAGIC;
}

/** The size that the guest sees; a UserError when the image is not one to be trusted. `start` is the beginning of the file. */
export function readQcow2Size(start: Buffer, name: string): number {
  const refuse = (code: string, why: string) => new UserError(code, `disk image ${name} is refused`, { why, fix: FIX });
  if (start.length < 72) throw refuse('IMAGE_CORRUPT', 'its qcow2 header is cut off');
  const version = start.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw refuse('IMAGE_UNSUPPORTED', `it is qcow version ${version}, only 2 and 3 are supported`);
  if (version === 3 && start.length < HEADER_LENGTH) throw refuse('IMAGE_CORRUPT', 'its qcow2 header is cut off');
  if (start.readBigUInt64BE(8) !== 0n)
    throw refuse('IMAGE_HAS_BACKING_FILE', 'it is an overlay of another file, which could be any file of this machine');
  const features = version === 3 ? start.readBigUInt64BE(72) : 0n;
  if (features & EXTERNAL_DATA_FILE)
    throw refuse('IMAGE_HAS_DATA_FILE', 'its data is in another file, which could be any file of this machine');
  if (features & CORRUPT) throw refuse('IMAGE_CORRUPT', 'it is marked as corrupt');
  if (features & ~UNDERSTOOD) throw refuse('IMAGE_UNSUPPORTED', 'it uses features that are not known here');
  if (start.readUInt32BE(32) !== 0) throw refuse('IMAGE_ENCRYPTED', 'it is encrypted');
  const clusterBits = start.readUInt32BE(20);
  if (clusterBits < 9 || clusterBits > 21) throw refuse('IMAGE_CORRUPT', `its clusters are of 2^${clusterBits} bytes`);
  const size = start.readBigUInt64BE(24);
  if (size > BigInt(MOST_BYTES)) throw refuse('IMAGE_TOO_LARGE', `it claims to hold ${size} bytes, at most 64Ti are accepted`);
  if (size === 0n) throw refuse('IMAGE_EMPTY', 'it holds no data');
  const l1Entries = start.readUInt32BE(36);
  if (l1Entries * 8 > 32 * 2 ** 20) throw refuse('IMAGE_TOO_LARGE', `its first table has ${l1Entries} entries`);
  const snapshots = start.readUInt32BE(60);
  if (snapshots > MOST_SNAPSHOTS)
    throw refuse('IMAGE_TOO_LARGE', `it holds ${snapshots} snapshots, at most ${MOST_SNAPSHOTS} are accepted`);
  return Number(size);
}

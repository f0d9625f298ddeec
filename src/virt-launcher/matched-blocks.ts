/** The sizes of the blocks that a disk lies on, for a guest that is to have the same. */
import { readFileSync, statfsSync, statSync } from 'node:fs';
import type { Disk } from '../api/kubevirt/vmi-spec-schema.ts';
import { messageOf, UserError } from '../base/errors.ts';
import type { DiskImage } from '../qemu/convert/input.ts';
import { isBlockSize } from '../qemu/convert/limits.ts';

/** The image, with the sizes of its block device or of the file system it is a file of, when the disk asks for that. */
export function withMatchedBlocks(image: DiskImage, { name, blockSize, cdrom, lun }: Disk, sysfs = '/sys/dev/block'): DiskImage {
  const { matchVolume } = blockSize ?? {};
  if (!matchVolume || matchVolume.enabled === false || cdrom || lun) return image;
  try {
    const lowest = image.base ?? image;
    const [logicalBytes, physicalBytes] = lowest.isDevice
      ? (['logical', 'physical'] as const).map((kind) => ofDevice(lowest.path, kind, sysfs))
      : [512, statfsSync(lowest.path).bsize]; // any file can be read and written by sectors
    if (!isBlockSize(logicalBytes ?? 0) || !isBlockSize(physicalBytes ?? 0)) return image; // a network file system may have odd ones
    return { ...image, matched: { logicalBytes: logicalBytes ?? 0, physicalBytes: physicalBytes ?? 0 } };
  } catch (error) {
    const why = messageOf(error);
    throw new UserError('DISK_INVALID', `the block sizes under disk ${JSON.stringify(name)} cannot be read`, { why, cause: error });
  }
}

function ofDevice(path: string, kind: 'logical' | 'physical', sysfs: string): number {
  const { rdev } = statSync(path, { bigint: true });
  const major = ((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & ~0xfffn);
  const minor = (rdev & 0xffn) | ((rdev >> 12n) & ~0xffn);
  return Number(readFileSync(`${sysfs}/${major}:${minor}/queue/${kind}_block_size`, 'utf8'));
}

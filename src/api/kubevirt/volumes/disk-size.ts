/** How large the disk on a PVC is: a contract between whoever makes it and whoever grows it while its guest runs. Pure. */
import { parseQuantity } from '../../../base/quantity.ts';
import type { VolumeMode } from '../../core/volume.ts';

/** What upstream leaves for the file system's own needs when nobody says otherwise. */
export const FILE_SYSTEM_OVERHEAD = 0.055;
const ALIGNMENT = 2 ** 20;

/** Of a PVC of this size: all of a block device, else what a file system does not need itself. */
export function diskBytesFrom(storage: string | undefined, volumeMode: VolumeMode | undefined): number | undefined {
  const bytes = storage === undefined ? undefined : parseQuantity(storage);
  if (bytes === undefined || volumeMode === 'Block') return bytes;
  return Math.floor((bytes * (1 - FILE_SYSTEM_OVERHEAD)) / ALIGNMENT) * ALIGNMENT;
}

/** How large a PVC has to be for a disk of this size. */
export function claimBytesFor(diskBytes: number): number {
  const disk = Math.ceil(diskBytes / ALIGNMENT) * ALIGNMENT;
  return Math.ceil(disk / (1 - FILE_SYSTEM_OVERHEAD) / ALIGNMENT) * ALIGNMENT;
}

/** How large a PVC may be whose disk is no larger than this. */
export function mostClaimBytesFor(diskBytes: number): number {
  const disk = Math.floor(diskBytes / ALIGNMENT) * ALIGNMENT;
  return Math.floor(disk / (1 - FILE_SYSTEM_OVERHEAD) / ALIGNMENT) * ALIGNMENT;
}

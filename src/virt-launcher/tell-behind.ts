/** Leaves the names of the volumes whose disks could not grow with their PVCs, for virt-handler: it tries again while the guest runs, and says why not. */
import { writeFileSync } from 'node:fs';
import { BEHIND_FILE } from '../api/launcher/files.ts';
import type { DiskImage } from '../qemu/convert/input.ts';

/** In the folder of the process, which is QEMU's. */
export function tellBehind(images: ReadonlyMap<string, DiskImage>): void {
  const behind = [...images].flatMap(([name, { isBehind }]) => (isBehind ? [name] : []));
  writeFileSync(BEHIND_FILE, JSON.stringify(behind));
}

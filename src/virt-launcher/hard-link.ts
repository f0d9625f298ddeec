/** A hard link to a file that was opened and checked, so that QEMU opens the same file without a way through the folders above it. */
import { fstatSync, linkSync, lstatSync, unlinkSync } from 'node:fs';
import { UserError } from '../base/errors.ts';

/**
 * A hard link beside the overlays: QEMU's user needs no way through folders that may be in somebody's home, and the file stays what was
 * checked. False where it is not possible: on a cluster images and volumes are other file systems, and their paths are used as they are.
 */
export function makeHardLink({ file, path, linkPath }: { file: number; path: string; linkPath: string }): boolean {
  try {
    linkSync(path, linkPath);
  } catch {
    return false;
  }
  const [checked, linked] = [fstatSync(file), lstatSync(linkPath)];
  if (checked.ino === linked.ino && checked.dev === linked.dev) return true;
  unlinkSync(linkPath);
  throw new UserError('IMAGE_FILE_REFUSED', 'the disk image was exchanged while it was being opened');
}

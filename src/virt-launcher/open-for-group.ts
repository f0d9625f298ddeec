/** Files on a PVC are for everybody who mounts it, which is what its group stands for: machines may share a disk, and start on a new one at the same time. */
import { openSync } from 'node:fs';

const FOR_GROUP = 0o660;
const NOT_FOR_OTHERS = 0o007;

/** Opens a file; one that is made by it is for its group, too, whatever this process takes away from others. */
export function openForGroup(path: string, flags: number): number {
  const before = process.umask(NOT_FOR_OTHERS);
  try {
    return openSync(path, flags, FOR_GROUP);
  } finally {
    process.umask(before);
  }
}

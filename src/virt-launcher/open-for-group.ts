/** Files on a PVC are for everybody who mounts it, which is what its group stands for: machines may share a disk, and start on a new one at the same time. */
import { mkdirSync, openSync } from 'node:fs';

const FILE_FOR_GROUP = 0o660;
const FOLDER_FOR_GROUP = 0o770;
const NOT_FOR_OTHERS = 0o007;

/** Opens a file; one that is made by it is for its group, too, whatever this process takes away from others. */
export function openForGroup(path: string, flags: number): number {
  return notForOthers(() => openSync(path, flags, FILE_FOR_GROUP));
}

/** Makes a folder, and those above it that are not there. */
export function makeFolderForGroup(path: string): void {
  notForOthers(() => mkdirSync(path, { recursive: true, mode: FOLDER_FOR_GROUP }));
}

function notForOthers<T>(make: () => T): T {
  const before = process.umask(NOT_FOR_OTHERS);
  try {
    return make();
  } finally {
    process.umask(before);
  }
}

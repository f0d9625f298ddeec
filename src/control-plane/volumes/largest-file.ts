/** How large a file can be in a folder, which its file system decides: 16Ti on ext4 with the usual blocks, 8Ei on XFS. Holes take no room, so it is tried. */
import { closeSync, constants, ftruncateSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** More than anybody's disk, and numbers are exact up to there. */
const MOST_BYTES = 2 ** 52;
const STEP = 2 ** 20;
const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/** In bytes, to the mebibyte below; undefined when nobody can tell now, as without room for one more file. */
export function largestFileBytes(folder: string): number | undefined {
  const path = join(folder, '.largest-file');
  try {
    const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      return searched((bytes) => canBe(file, bytes));
    } finally {
      closeSync(file);
      rmSync(path, { force: true });
    }
  } catch {
    return undefined;
  }
}

function searched(fits: (bytes: number) => boolean): number {
  if (fits(MOST_BYTES)) return MOST_BYTES;
  let [fitting, tooLarge] = [0, MOST_BYTES / STEP];
  while (tooLarge - fitting > 1) {
    const middle = Math.floor((fitting + tooLarge) / 2);
    if (fits(middle * STEP)) fitting = middle;
    else tooLarge = middle;
  }
  return fitting * STEP;
}

function canBe(file: number, bytes: number): boolean {
  try {
    ftruncateSync(file, bytes);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EFBIG') return false; // what node:fs throws
    throw error;
  }
}

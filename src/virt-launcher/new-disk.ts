/**
 * How a disk comes to its PVC: under a name that nobody else uses, and under its own when it is whole and safe, with its format beside it. So a disk that is
 * there is always a whole one, whenever we are killed; and of several machines that begin on one PVC at the same time the first that is ready makes
 * the disk, and none removes, continues or links what another one still writes.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fsyncSync, linkSync, openSync } from 'node:fs';
import type { ImageFormat } from '../qemu/convert/input.ts';
import { noteFormat } from './disk-format.ts';

/** As upstream names it. */
export const CLAIM_DISK = 'disk.img';

/** A file for what one writer makes; the next try of the same writer has the same, and begins by removing it. */
export function unfinishedName(writer: string): string {
  return `${CLAIM_DISK}.unfinished-${createHash('sha256').update(writer).digest('hex').slice(0, 16)}`;
}

/** The file at `path`, which is on the disk, becomes the disk of `folder`. False, and nothing is changed, when there is one. */
export function linkDisk({ folder, path, format }: { folder: string; path: string; format: ImageFormat }): boolean {
  noteFormat(folder, format); // before the disk has its name: it is never there without its format
  try {
    linkSync(path, `${folder}/${CLAIM_DISK}`); // unlike a rename, this never takes the place of a disk that is there
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false; // what node:fs throws
    throw error;
  }
  syncFolder(folder);
  return true;
}

/** What was made or renamed in it is safe. */
export function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * How `compute` and the containers of its disks find each other in the volume that they share. The scripts of virt-launcher spell the names
 * once more, in a language that cannot import them.
 */
import { shortened } from '../core/short-name.ts';

/** Run in `compute` before the others start, with the folder: gives them a program, for their images have none. */
export const SHARE_PROGRAM = 'virt-launcher-share';
/** What it puts there: a shell, and what the shell does in the container of a disk. */
export const SHARE_FILES = { shell: 'busybox', script: 'hold' } as const;

/** The container of a disk, by the volume of the instance. */
export function diskContainerName(volume: string): string {
  return shortened(`volume${volume}`);
}

/** The file in which the container of a disk tells the number of its process. */
export function diskProcessFile(volume: string): string {
  return `disk-${volume}`;
}

/** The file in which `compute` tells its own: when that has ended, the others do. */
export const COMPUTE_PROCESS_FILE = 'compute';

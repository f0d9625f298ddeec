/**
 * The first content of a claim's disk: a copy of an image, grown to the size of the claim. It becomes the disk when it is whole and safe (new-disk.ts).
 */
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { messageOf, UserError } from '../base/errors.ts';
import { formatBytes } from '../base/quantity.ts';
import type { ImageFacts } from './image-format.ts';
import { linkDisk } from './new-disk.ts';
import { growQcow2 } from './qcow2.ts';
import { sweepParts } from './sweep-parts.ts';

type Options = {
  /** The image, open. */
  readonly from: number;
  readonly facts: ImageFacts;
  /** Its name, for people. */
  readonly image: string;
  /** Where the claim is. */
  readonly folder: string;
  /** Where nobody else writes, on the same file system. What became the disk has this name, too, for as long as whoever asked wants that. */
  readonly unfinished: string;
  /** How large the disk is to be. */
  readonly sizeBytes: number;
  /** Asked when all of it is copied; a UserError says why the copy is not to become the disk. */
  readonly check?: () => void;
};

const CHUNK = 2 ** 20;
/** The grain of holes: a piece full of zeroes is not written. */
const PIECE = 2 ** 16;
const ZEROES = Buffer.alloc(PIECE);
/** The file system or a quota is full. */
const NO_ROOM = ['ENOSPC', 'EDQUOT'];

/** Makes the disk in `folder`; false when another was there first; a UserError, and no disk, when that cannot be. */
export function populateDisk(options: Options): boolean {
  const { facts, image, folder, unfinished, sizeBytes } = options;
  if (facts.sizeBytes > sizeBytes)
    throw new UserError('DISK_TOO_SMALL', `the image ${image} does not fit on its PVC`, {
      why: `it is a disk of ${formatBytes(facts.sizeBytes)}, the PVC has room for one of ${formatBytes(sizeBytes)}`,
      fix: 'ask for more storage in the PVC (virtctl run --disk)',
    });
  try {
    rmSync(unfinished, { force: true }); // of a try that was killed
    writeCopy(unfinished, options);
    options.check?.();
    const isFirst = linkDisk({ folder, path: unfinished, format: facts.format });
    if (!isFirst) rmSync(unfinished);
    return isFirst;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error instanceof UserError ? error : copyError(error, options);
  }
}

function writeCopy(path: string, { from, facts, folder, sizeBytes }: Options): void {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
  const isShared = shareBlocks(from, path);
  const into = openSync(path, isShared ? O_RDWR | O_NOFOLLOW : O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    sweepParts(folder, fstatSync(into).mtimeMs); // what others have left needs room, too
    if (isShared) fchmodSync(into, 0o600);
    else copySparsely(from, into);
    if (facts.format === 'qcow2') growQcow2(into, sizeBytes);
    else ftruncateSync(into, sizeBytes);
    fsyncSync(into);
  } finally {
    closeSync(into);
  }
}

/** In one step, where the file system can: Btrfs and XFS. False where it cannot. */
function shareBlocks(from: number, path: string): boolean {
  try {
    copyFileSync(`/proc/self/fd/${from}`, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false; // copied in the plain way, which says what is wrong
  }
}

function copySparsely(from: number, into: number): void {
  const chunk = Buffer.alloc(CHUNK);
  let at = 0;
  for (let length = readSync(from, chunk, 0, CHUNK, at); length > 0; length = readSync(from, chunk, 0, CHUNK, at)) {
    for (let start = 0; start < length; start += PIECE) {
      const piece = chunk.subarray(start, Math.min(start + PIECE, length));
      if (!piece.equals(ZEROES.subarray(0, piece.length))) writeWhole(into, piece, at + start);
    }
    at += length;
  }
  ftruncateSync(into, fstatSync(from).size);
}

/** A write may take less than it is given when room runs out; the next one says so. */
function writeWhole(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

function copyError(error: unknown, { from, image, sizeBytes }: Options): Error {
  const { code } = error as NodeJS.ErrnoException; // what node:fs throws
  if (code === 'EFBIG' || code === 'ERR_OUT_OF_RANGE')
    return new UserError('DISK_TOO_LARGE', `a disk of ${formatBytes(sizeBytes)} is larger than a file can be on the volume of its PVC`, {
      why: messageOf(error),
      fix: 'make the PVC again with a smaller size, or of a StorageClass that has such disks',
      cause: error,
    });
  if (code !== undefined && NO_ROOM.includes(code))
    return new UserError('DISK_FULL', `there is no room for the image ${image} on the volume of its PVC`, {
      why: `${messageOf(error)}; its file has ${formatBytes(fstatSync(from).size)}`,
      fix: 'free some space on the volume (df -h shows how full it is); retrying by itself',
      cause: error,
    });
  return new UserError('FILE_INACCESSIBLE', `user ${process.geteuid?.()} cannot copy the image ${image} to its PVC`, {
    why: messageOf(error),
    cause: error,
  });
}

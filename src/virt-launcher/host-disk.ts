/**
 * A disk that is a file of the node, in a folder that an administrator has named for it. Nothing of a file that is there is ever changed by us: neither its owner
 * nor its mode nor its size. No link is followed.
 */
import { closeSync, constants, fsyncSync, ftruncateSync, linkSync, rmSync } from 'node:fs';
import { messageOf, UserError } from '../base/errors.ts';
import { makeHardLink } from './hard-link.ts';
import { factsAs } from './image-format.ts';
import { syncFolder, unfinishedName } from './new-disk.ts';
import { openForGroup } from './open-for-group.ts';
import { openInRoot } from './open-in-root.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

export type HostDisk = { readonly sizeBytes: number; readonly isNew: boolean; readonly isLinked: boolean };
type Options = {
  readonly folder: string;
  /** Of the file in it. */
  readonly name: string;
  readonly linkPath: string;
  readonly writer: string;
  /** Undefined: a file that is missing is not made. */
  readonly newSizeBytes: number | undefined;
};

/** The file, made sparse when it is missing and may be. */
export function findHostDisk({ folder, name, linkPath, writer, newSizeBytes }: Options): HostDisk {
  const { file, isNew } = openOrMake({ folder, name, writer, newSizeBytes });
  try {
    const { sizeBytes } = factsAs('raw', file, name);
    return { sizeBytes, isNew, isLinked: makeHardLink({ file, path: `${folder}/${name}`, linkPath }) };
  } finally {
    closeSync(file);
  }
}

function openOrMake({ folder, name, writer, newSizeBytes }: Omit<Options, 'linkPath'>): { readonly file: number; readonly isNew: boolean } {
  try {
    return { file: openInRoot(folder, name), isNew: false };
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'IMAGE_FILE_MISSING')) throw error;
    if (newSizeBytes === undefined)
      throw new UserError('HOST_DISK_MISSING', `there is no file ${JSON.stringify(name)} in the folder of the node`, {
        fix: 'put it there, or say type DiskOrCreate with a capacity',
        cause: error,
      });
    const isNew = make(folder, { name, path: `${folder}/${unfinishedName(`${writer} ${name}`)}`, sizeBytes: newSizeBytes });
    return { file: openInRoot(folder, name), isNew };
  }
}

/** Under another name until it is whole. False when another machine was first. */
function make(
  folder: string,
  { name, path, sizeBytes }: { readonly name: string; readonly path: string; readonly sizeBytes: number },
): boolean {
  try {
    rmSync(path, { force: true }); // of a try that was killed
    const file = openForGroup(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    try {
      ftruncateSync(file, sizeBytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(path, `${folder}/${name}`); // unlike a rename, this never takes the place of a file that is there
    syncFolder(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false; // what node:fs throws
    throw new UserError('FILE_INACCESSIBLE', `user ${process.geteuid?.()} cannot make a disk in the folder of the node`, {
      why: messageOf(error),
      cause: error,
    });
  } finally {
    rmSync(path, { force: true });
  }
}

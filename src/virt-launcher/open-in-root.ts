/** Opening files in a folder that somebody else filled: no symbolic link is followed, so nothing outside it is ever opened. */
import { closeSync, constants, fstatSync, openSync, readdirSync } from 'node:fs';
import { UserError } from '../base/errors.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** A read-only file descriptor of the regular file at `path` under `root`; a UserError when there is no such thing. */
export function openInRoot(root: string, path: string): number {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const last = parts.pop();
  if (last === undefined || last === '..' || parts.includes('..') || path.includes('\0'))
    throw refused(path, 'it does not name a file of the image');
  // Step by step from an open folder: a path as a whole would follow links in its middle.
  return inFolder(root, parts, (folder) => regularFile(`${folder}/${last}`, path));
}

/** The names in the folder at `path` under `root`; a UserError when there is no such folder. */
export function listInRoot(root: string, path: string): string[] {
  return inFolder(root, path.split('/').filter(Boolean), (folder) => readdirSync(folder));
}

function inFolder<T>(root: string, parts: readonly string[], use: (folder: string) => T): T {
  // The root itself may be a link: the node runtime makes it, not the image.
  let folder = open(root, O_RDONLY | O_DIRECTORY, root);
  try {
    for (const part of parts) {
      const next = open(`/proc/self/fd/${folder}/${part}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, parts.join('/'));
      closeSync(folder);
      folder = next;
    }
    return use(`/proc/self/fd/${folder}`);
  } finally {
    closeSync(folder);
  }
}

function regularFile(path: string, name: string): number {
  // O_NONBLOCK: opening a FIFO would otherwise wait for a writer for ever.
  const file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, name);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw refused(name, 'it is not a regular file');
}

function open(path: string, flags: number, name: string): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what openSync throws
    if (code === 'ELOOP') throw refused(name, 'it is a symbolic link');
    if (code === 'ENOTDIR') throw refused(name, 'a folder on the way to it is a symbolic link or no folder');
    if (code === 'ENOENT') throw new UserError('IMAGE_FILE_MISSING', `${name} is not in the image`, { cause: error });
    throw refused(name, `it cannot be opened (${code})`);
  }
}

function refused(name: string, why: string): UserError {
  return new UserError('IMAGE_FILE_REFUSED', `${JSON.stringify(name)} is refused as a disk image`, { why });
}

/** The disk image inside a container image: the one file under /disk, or the one that `path` names. */
import { closeSync, fstatSync, linkSync, lstatSync, realpathSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../base/errors.ts';
import { type ImageFacts, readImageFacts } from './image-format.ts';
import { listInside, openInside } from './open-inside.ts';

export type FoundDisk = ImageFacts & {
  /** Its name in the image, for people. */
  readonly name: string;
  /** Its path in the image. */
  readonly path: string;
  /** It has the second name now; use that. */
  readonly isLinked: boolean;
};

/** Finds and checks the disk image under `root`, and gives it the second name `linkPath` where that is possible. */
export function findContainerDisk(options: { root: string; path: string | undefined; linkPath: string }): FoundDisk {
  const { root, linkPath } = options;
  const name = options.path ?? `disk/${onlyFile(root)}`;
  const file = openInside(root, name);
  try {
    const facts = readImageFacts(file, name);
    const path = join(realpathSync(root), join('/', name));
    return { ...facts, name, path, isLinked: giveSecondName({ file, path, linkPath }) };
  } finally {
    closeSync(file);
  }
}

function onlyFile(root: string): string {
  const names = listInside(root, 'disk');
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return name;
  throw new UserError('IMAGE_FILE_AMBIGUOUS', `the image has ${names.length} files in /disk`, {
    why: 'there must be exactly one to know which is the disk',
    fix: 'name the file with containerDisk.path',
  });
}

/**
 * A hard link beside the overlay: QEMU's user needs no way through the folders of the image store (which may be in somebody's home), and the
 * file stays what was checked. On a cluster the image is another file system and the path is used as it is.
 */
function giveSecondName({ file, path, linkPath }: { file: number; path: string; linkPath: string }): boolean {
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

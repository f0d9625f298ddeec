/** The disk image inside a container image: the one file under /disk, or the one that `path` names. */
import { closeSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../base/errors.ts';
import { makeHardLink } from './hard-link.ts';
import { type ImageFacts, readImageFacts } from './image-format.ts';
import { listInRoot, openInRoot } from './open-in-root.ts';

export type FoundDisk = ImageFacts & {
  /** Its name in the image, for people. */
  readonly name: string;
  /** Its path in the image. */
  readonly path: string;
  /** The hard link was made; use that. */
  readonly isLinked: boolean;
};

/** Finds and checks the disk image under `root`, and hard-links it to `linkPath` where that is possible. */
export function findContainerDisk(options: { root: string; path: string | undefined; linkPath: string }): FoundDisk {
  const { root, path: wanted, linkPath } = options;
  const { file, name, ...facts } = openContainerDisk(root, wanted);
  try {
    const path = join(isOfProcess(root) ? root : realpathSync(root), join('/', name));
    return { ...facts, name, path, isLinked: makeHardLink({ file, path, linkPath }) };
  } finally {
    closeSync(file);
  }
}

/** The same, open for reading; the caller closes it. */
export function openContainerDisk(root: string, path?: string): ImageFacts & { readonly file: number; readonly name: string } {
  const name = path ?? `disk/${onlyFile(root)}`;
  const file = openInRoot(root, name);
  try {
    return { ...readImageFacts(file, name), file, name };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The root folder of another process is a way in, not a path that could be resolved. */
function isOfProcess(root: string): boolean {
  return /^\/proc\/\d+\/root$/.test(root);
}

function onlyFile(root: string): string {
  const names = listInRoot(root, 'disk');
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return name;
  throw new UserError('IMAGE_FILE_AMBIGUOUS', `the image has ${names.length} files in /disk`, {
    why: 'there must be exactly one to know which is the disk',
    fix: 'name the file with containerDisk.path',
  });
}

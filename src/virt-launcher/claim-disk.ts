/** The disk of a persistent volume claim: the file disk.img at the root of its folder, made sparse when it is not there yet. What it holds is the guest's. */
import { closeSync, constants, fsyncSync, ftruncateSync, openSync, rmSync } from 'node:fs';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { type FormatSources, isOurs, keptFormat } from './disk-format.ts';
import { makeHardLink } from './hard-link.ts';
import { factsAs, type ImageFacts } from './image-format.ts';
import { CLAIM_DISK, linkDisk, unfinishedName } from './new-disk.ts';
import { openForGroup } from './open-for-group.ts';
import { openInRoot } from './open-in-root.ts';
import { growQcow2 } from './qcow2.ts';

export type ClaimDisk = ImageFacts & {
  readonly isNew: boolean;
  readonly isLinked: boolean;
  /** Why it is smaller than its claim, when it was to grow and could not. */
  readonly whyNotGrown?: string;
};

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

type Options = {
  readonly folder: string;
  readonly linkPath: string;
  /** The machine: no other one of this name makes a disk here at the same time. */
  readonly writer: string;
  /** Undefined: a disk that is missing is not made. */
  readonly newSizeBytes: number | undefined;
  /** Where its format is kept. */
  readonly format: FormatSources;
  /** Makes a new disk that is not empty. False: another machine was first. */
  readonly fill?: ((folder: string, sizeBytes: number) => boolean) | undefined;
};

/** Opens or makes the disk in `folder`, checks it, and hard-links it to `linkPath` where that is possible. */
export function findClaimDisk(options: Options): ClaimDisk {
  const { folder, linkPath } = options;
  const { file, isNew } = openOrMake(options);
  try {
    const found = factsAs(keptFormat(folder, options.format), file, CLAIM_DISK);
    const growth = isNew ? undefined : grow(options, found);
    const facts = growth ? factsAs(found.format, file, CLAIM_DISK) : found;
    const isLinked = makeHardLink({ file, path: `${folder}/${CLAIM_DISK}`, linkPath });
    return { ...facts, isNew, isLinked, ...(growth && facts.sizeBytes < growth.wantedBytes && { whyNotGrown: growth.why }) };
  } finally {
    closeSync(file);
  }
}

type Growth = { readonly wantedBytes: number; readonly why: string };

/**
 * To the size that its claim has by now; a disk never shrinks, and one that somebody else put there stays as it is. One that cannot grow is as good as it
 * was, and its machine starts with it: virt-handler is told, and goes on trying. Undefined: it is not to grow.
 */
function grow({ folder, newSizeBytes: wantedBytes = 0 }: Options, { format, sizeBytes }: ImageFacts): Growth | undefined {
  if (wantedBytes <= sizeBytes || !isOurs(folder)) return undefined;
  try {
    const file = openSync(`${folder}/${CLAIM_DISK}`, O_RDWR | O_NOFOLLOW);
    try {
      if (format === 'qcow2') growQcow2(file, wantedBytes);
      else ftruncateSync(file, wantedBytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return { wantedBytes, why: 'the tables of this image have no room for that' };
  } catch (error) {
    return { wantedBytes, why: messageOf(error) };
  }
}

/** How large a new disk on this volume is; virt-controller, who sees the claim, says so in the Pod. */
export function newDiskBytesFor(env: Readonly<Record<string, string | undefined>>, volumeName: string): number | undefined {
  const sizes: unknown = JSON.parse(env[LAUNCHER_VARIABLES.newDiskBytes] ?? '{}');
  const bytes = isObject(sizes) ? sizes[volumeName] : undefined;
  return typeof bytes === 'number' ? bytes : undefined;
}

/** The image that a new disk on this volume begins as, by its name; virt-controller has put it into the Pod. */
export function diskImage(env: Readonly<Record<string, string | undefined>>, volumeName: string): string | undefined {
  return diskImages(env)[volumeName];
}

/** All of them, by volume. */
export function diskImages(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const images: unknown = JSON.parse(env[LAUNCHER_VARIABLES.diskImages] ?? '{}');
  return isObject(images) ? (images as Record<string, string>) : {}; // as virt-controller writes it
}

function openOrMake({ folder, writer, newSizeBytes: sizeBytes, fill }: Options): { file: number; isNew: boolean } {
  try {
    return { file: openInRoot(folder, CLAIM_DISK), isNew: false };
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'IMAGE_FILE_MISSING') || sizeBytes === undefined) throw error;
    if (sizeBytes > 0) {
      const isNew = fill ? fill(folder, sizeBytes) : makeEmpty(folder, { writer, sizeBytes });
      return { file: openInRoot(folder, CLAIM_DISK), isNew };
    }
    throw new UserError('DISK_SIZE_INVALID', 'the PVC is too small for a disk', { why: 'less than 1Mi is left of it', cause: error });
  }
}

/** Sparse, so that it takes no room until the guest writes. False when another machine was first. */
function makeEmpty(folder: string, { writer, sizeBytes }: { writer: string; sizeBytes: number }): boolean {
  const path = `${folder}/${unfinishedName(writer)}`;
  try {
    rmSync(path, { force: true }); // of a try that was killed
    const file = openForGroup(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    try {
      ftruncateSync(file, sizeBytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return linkDisk({ folder, path, format: 'raw' });
  } catch (error) {
    throw new UserError('FILE_INACCESSIBLE', `user ${process.geteuid?.()} cannot make a disk on the volume of the PVC`, {
      why: messageOf(error),
      cause: error,
    });
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * The format of a claim's disk, which is decided when the disk is made and kept beside it. The disk itself is never asked: a guest writes to
 * it, and a header that it wrote would choose what QEMU makes of the next start.
 *
 *   the claim's annotation says one     that one: whoever may write the claim put such a disk there
 *   a note beside the disk              that one: written by us before the disk got its name
 *   the claim begins as an image        the image's: disks of before there were notes
 *   otherwise                           raw, as everywhere in KubeVirt
 */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fsyncSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import type { ImageFormat } from '../qemu/convert/input.ts';
import { openForGroup } from './open-for-group.ts';
import { openInRoot } from './open-in-root.ts';

const NOTE = 'disk.img.format';
const FORMATS: readonly ImageFormat[] = ['raw', 'qcow2'];
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

export type FormatSources = {
  /** By the claim. */
  readonly declared: ImageFormat | undefined;
  /** Of the image that the disk began as, if it began as one. */
  readonly ofImage: (() => ImageFormat) | undefined;
};

/** The rules above, for the disk in `folder`. */
export function keptFormat(folder: string, { declared, ofImage }: FormatSources): ImageFormat {
  const kept = declared ?? noteIn(folder);
  if (kept) return kept;
  const format = ofImage?.();
  if (format) noteFormat(folder, format); // the next start may not have the image
  return format ?? 'raw';
}

/** The disk in `folder` was made by us: only then there is a note. */
export function isOurs(folder: string): boolean {
  return noteIn(folder) !== undefined;
}

/** Writes down the format of the disk that is about to be made in `folder`: in one step, for others read it, and a part of it would stand in the way of every start. */
export function noteFormat(folder: string, format: ImageFormat): void {
  if (textIn(folder) === format) return; // another machine makes the same disk
  const path = `${folder}/${NOTE}.${randomUUID()}.tmp`;
  const file = openForGroup(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  try {
    writeSync(file, `${format}\n`);
    fsyncSync(file);
    renameSync(path, `${folder}/${NOTE}`);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

/** What the claim of this volume says about its disk; virt-controller, who sees the claim, has put it into the Pod. */
export function declaredFormat(env: Readonly<Record<string, string | undefined>>, volumeName: string): ImageFormat | undefined {
  const formats: unknown = JSON.parse(env[LAUNCHER_VARIABLES.diskFormats] ?? '{}');
  const said = isObject(formats) ? formats[volumeName] : undefined;
  return said === undefined ? undefined : known(said, `the PVC of volume ${volumeName}`);
}

function noteIn(folder: string): ImageFormat | undefined {
  const text = textIn(folder);
  return text === undefined ? undefined : known(text, `the note ${NOTE} beside the disk`);
}

function textIn(folder: string): string | undefined {
  let file: number;
  try {
    file = openInRoot(folder, NOTE);
  } catch (error) {
    if (error instanceof UserError && error.code === 'IMAGE_FILE_MISSING') return undefined;
    throw error;
  }
  try {
    const buffer = Buffer.alloc(16);
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)).trim();
  } finally {
    closeSync(file);
  }
}

function known(said: unknown, who: string): ImageFormat {
  const format = FORMATS.find((each) => each === said);
  if (format) return format;
  throw new UserError('DISK_FORMAT_UNKNOWN', `${who} names a format that is not supported: ${JSON.stringify(said)}`, {
    fix: `say ${FORMATS.join(' or ')}`,
  });
}

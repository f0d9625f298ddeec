/**
 * What is on a volume that is no disk. Whoever filled it may have put anything there:
 *
 *   a file, a folder, a link to a place on the volume    part of it
 *   a link that leads out, or may                        refused: who unpacks it elsewhere would follow it
 *   a socket, a pipe, a device                           left out: there is nothing in it
 *   a name that is no UTF-8, what cannot be read         refused
 *   too many, or too deep                                refused
 *
 * No link is followed, at any step.
 */
import { accessSync, closeSync, constants, type Dir, lstatSync, opendirSync, openSync, readlinkSync } from 'node:fs';
import { messageOf, UserError } from '../../base/errors.ts';

export type VolumeFile = {
  /** Below the volume, without a slash in front. */
  readonly path: string;
  readonly type: 'file' | 'folder' | 'link';
  readonly mode: number;
  readonly userId: number;
  readonly groupId: number;
  readonly modifiedSeconds: number;
  /** 0 for what is no file. */
  readonly sizeBytes: number;
  /** Of a link. */
  readonly target?: string;
  /** Another one as soon as anything was written to it. */
  readonly stamp: string;
};
export type FileLimits = { readonly mostFiles: number; readonly mostDepth: number };

/** What a Pod of ours has the memory for. */
const FILE_LIMITS: FileLimits = { mostFiles: 100_000, mostDepth: 64 };
/** At the root: of file systems, and of importers. */
const LEFT_OUT = ['lost+found', '.import', '.imported', 'disk.img.format'];
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, R_OK } = constants;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** In an order that is the same each time: a folder, then what is in it. A UserError for what is refused. */
export function listFiles(root: string, limits: FileLimits = FILE_LIMITS): VolumeFile[] {
  const files: VolumeFile[] = [];
  inFolder(root, O_RDONLY | O_DIRECTORY, '', (folder) => walk({ folder, path: '', depth: 1 }, { files, limits }));
  return files;
}

type Place = { readonly folder: string; readonly path: string; readonly depth: number };
type Listing = { readonly files: VolumeFile[]; readonly limits: FileLimits };

function walk({ folder, path, depth }: Place, listing: Listing): void {
  const { files, limits } = listing;
  if (depth > limits.mostDepth) throw refused(path, `it is more than ${limits.mostDepth} folders deep`);
  for (const name of namesIn(folder, path, limits.mostFiles - files.length)) {
    if (depth === 1 && LEFT_OUT.includes(name)) continue;
    const below = path === '' ? name : `${path}/${name}`;
    const entry = entryOf(`${folder}/${name}`, below, depth);
    if (!entry) continue;
    files.push(entry);
    if (files.length > limits.mostFiles) throw tooMany(limits.mostFiles);
    if (entry.type !== 'folder') continue;
    inFolder(`${folder}/${name}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, below, (next) =>
      walk({ folder: next, path: below, depth: depth + 1 }, listing),
    );
  }
}

/** One by one: a folder may have more names than there is memory. */
function namesIn(folder: string, path: string, most: number): string[] {
  const names: string[] = [];
  const open: Dir = opendirSync(folder, { encoding: 'buffer' as BufferEncoding }); // names as bytes: Node has it, its types do not
  try {
    for (let entry = open.readSync(); entry; entry = open.readSync()) {
      names.push(decoded(entry.name as unknown as Buffer, path)); // as just asked for
      if (names.length > most + LEFT_OUT.length) throw tooMany(most);
    }
  } finally {
    open.closeSync();
  }
  return names.sort();
}

function decoded(name: Buffer, path: string): string {
  try {
    return UTF8.decode(name);
  } catch (error) {
    throw refused(`${path}/${name.toString('latin1')}`, 'its name is not UTF-8', error);
  }
}

/** Undefined for what has nothing in it. */
function entryOf(at: string, path: string, depth: number): VolumeFile | undefined {
  const stat = lstatSync(at, { bigint: true });
  const common = {
    path,
    mode: Number(stat.mode & 0o7777n),
    userId: Number(stat.uid),
    groupId: Number(stat.gid),
    modifiedSeconds: Number(stat.mtimeNs / 1_000_000_000n),
    stamp: `${stat.ino} ${stat.size} ${stat.mtimeNs}`,
  };
  if (stat.isDirectory()) return { ...common, type: 'folder', sizeBytes: 0 };
  if (stat.isSymbolicLink()) return { ...common, type: 'link', sizeBytes: 0, target: targetOf(at, path, depth - 1) };
  if (!stat.isFile()) return undefined;
  attempt(path, () => accessSync(at, R_OK));
  return { ...common, type: 'file', sizeBytes: Number(stat.size) };
}

/** Steps up are possible at its beginning alone: after a name they may lead anywhere, since that may be a link itself. */
function targetOf(at: string, path: string, depth: number): string {
  const target = decoded(readlinkSync(at, 'buffer'), path);
  const steps = target.split('/').filter((step) => step !== '' && step !== '.');
  const up = steps.findIndex((step) => step !== '..');
  const stepsUp = up === -1 ? steps.length : up;
  if (target.startsWith('/') || stepsUp > depth || steps.slice(stepsUp).includes('..'))
    throw refused(path, 'it is a link that leads out of the volume');
  return target;
}

function inFolder(at: string, flags: number, path: string, use: (folder: string) => void): void {
  const folder = attempt(path, () => openSync(at, flags));
  try {
    use(`/proc/self/fd/${folder}`);
  } finally {
    closeSync(folder);
  }
}

function attempt<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw refused(path, `it cannot be read: ${messageOf(error)}`, error);
  }
}

function refused(path: string, why: string, cause?: unknown): UserError {
  return new UserError('FILE_REFUSED', `${JSON.stringify(path)} on the volume is refused`, { why, cause });
}

function tooMany(most: number): UserError {
  return new UserError('TOO_MANY_FILES', 'the volume is refused', { why: `there are more than ${most} files on it` });
}

/**
 * A copy of what a volume holds, of one moment: blocks are shared where the file system can do that, else files are copied without their
 * holes, and a file that was written meanwhile is no copy but an error. What is in a volume was put there by guests and Pods, so files are
 * reached by what is open, never by a path that somebody may turn into a link; only files, folders and the text of links are copied.
 */
import { spawn } from 'node:child_process';
import { type BigIntStats, constants } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open, readdir, readlink, symlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BEING_WRITTEN } from '../../api/core/volume-snapshot.ts';

export type CopyOptions = { readonly from: string; readonly into: string; readonly signal: AbortSignal };

const { COPYFILE_FICLONE_FORCE, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** The times of files go by the tick of the kernel: what was written within the last one may be written again with the same time. */
const TICK_MS = 25;
const QUIET_TRIES = 40;
const DEEPEST = 32;
/** Each holds a thread of the pool in which the store syncs, too: see `UV_THREADPOOL_SIZE` in virtctl/embedded/launch.ts. */
const SYNCED_AT_ONCE = 2;

/** Copies `from`, which may not be there yet, into the new folder `into`, and brings it to the disk. */
export async function copyFolder({ from, into, signal }: CopyOptions): Promise<void> {
  await mkdir(into, { mode: 0o700 });
  const source = await open(from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined; // no Pod has used it yet
    throw error;
  });
  try {
    const made = [into];
    if (source) await copyEntries(source, { into, signal, made, depth: 0 });
    for (let at = 0; at < made.length; at += SYNCED_AT_ONCE) await Promise.all(made.slice(at, at + SYNCED_AT_ONCE).map(syncToDisk));
  } finally {
    await source?.close();
  }
}

/** Brings a file, or the names in a folder, to the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

type Place = { readonly into: string; readonly signal: AbortSignal; readonly made: string[]; readonly depth: number };

async function copyEntries(folder: FileHandle, { into, signal, made, depth }: Place): Promise<void> {
  if (depth > DEEPEST) throw new Error(`its folders are nested deeper than ${DEEPEST}`);
  const before = await quietStat(folder);
  const path = `/proc/self/fd/${folder.fd}`;
  for (const name of await readdir(path)) {
    signal.throwIfAborted();
    const target = `${into}/${name}`;
    const file = await open(`${path}/${name}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ELOOP' || error.code === 'ENXIO') return error.code;
      throw error;
    });
    if (file === 'ELOOP') await symlink(await readlink(`${path}/${name}`), target);
    if (typeof file === 'string') continue; // a socket is nothing to keep
    try {
      await copyEntry(file, { into: target, signal, made, depth });
    } finally {
      await file.close();
    }
  }
  await mustBeUnchanged(folder, before);
}

async function copyEntry(file: FileHandle, place: Place): Promise<void> {
  const { into, made, depth } = place;
  const stat = await file.stat();
  if (stat.isDirectory()) {
    await mkdir(into, { mode: 0o700 });
    await copyEntries(file, { ...place, depth: depth + 1 });
    await likeSource(into, stat);
    made.push(into);
    return;
  }
  if (!stat.isFile()) return;
  // A second name that somebody gave to a file of the host; what belongs to guests and Pods is theirs to name.
  if (stat.nlink > 1 && stat.uid === 0 && process.getuid?.() === 0) throw new Error('a file of root has a second name elsewhere');
  await copyContent(file, place);
  await likeSource(into, stat);
  made.push(into);
}

async function copyContent(file: FileHandle, { into, signal }: Place): Promise<void> {
  if (await shareBlocks(file, into)) return;
  const before = await quietStat(file);
  await copySparsely(file, into, signal);
  await mustBeUnchanged(file, before);
}

async function mustBeUnchanged(file: FileHandle, before: BigIntStats): Promise<void> {
  const after = await file.stat({ bigint: true });
  if (before.mtimeNs !== after.mtimeNs || before.size !== after.size) throw new Error(`${BEING_WRITTEN} while it is copied`);
}

/** In one step of the file system, where it has such a thing: the copy is of one moment, whoever writes. */
async function shareBlocks(file: FileHandle, into: string): Promise<boolean> {
  try {
    await copyFile(`/proc/self/fd/${file.fd}`, into, COPYFILE_FICLONE_FORCE);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException; // what node:fs throws
    if (['ENOTSUP', 'EOPNOTSUPP', 'ENOTTY', 'ENOSYS', 'EINVAL', 'EXDEV'].includes(code)) return false;
    throw error;
  }
}

/** Waits until the last write is so long ago that another one would show. */
async function quietStat(file: FileHandle): Promise<BigIntStats> {
  for (let tries = 0; tries < QUIET_TRIES; tries++) {
    const stat = await file.stat({ bigint: true });
    if (Math.abs(Date.now() - Number(stat.mtimeMs)) > TICK_MS) return stat;
    await sleep(TICK_MS);
  }
  throw new Error(`${BEING_WRITTEN} all the time`);
}

/** By `cp`, which asks the file system where there is data: a disk is mostly holes, and its guest may be waiting for us. */
async function copySparsely(file: FileHandle, into: string, signal: AbortSignal): Promise<void> {
  const child = spawn('cp', ['--sparse=always', '/proc/self/fd/3', into], { stdio: ['ignore', 'ignore', 'pipe', file.fd], signal });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(0, 1_000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(said.trim() || `cp ended with ${code}`);
}

/** Rights as in the source, and its owner where we may give things away. */
async function likeSource(path: string, { mode, uid, gid }: { mode: number; uid: number; gid: number }): Promise<void> {
  const made = await open(path, O_RDONLY | O_NOFOLLOW);
  try {
    if (process.getuid?.() === 0) await made.chown(uid, gid);
    await made.chmod(mode & 0o777);
  } finally {
    await made.close();
  }
}

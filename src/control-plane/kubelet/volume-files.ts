/**
 * Files of a volume that the kubelet writes, laid out as Kubernetes does it, so that all of them change at once, also for a container that
 * has the folder mounted:
 *
 *   NAME -> ..data/NAME         what a container opens
 *   ..data -> ..data-XXXXXX     swapped in one step
 *   ..data-XXXXXX/NAME          the files
 *
 * The Pod reads them by its group; they are ours, so that nobody in the Pod puts a link there that somebody else follows. In a container of
 * an ordinary image they are root's, as everywhere.
 */
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ApiError } from '../../base/errors.ts';
import { makeFolder } from './pod-folder.ts';
import type { RunAs } from './privileges.ts';

export type Files = ReadonlyMap<string, string | Uint8Array>;

const DATA = '..data';

/** Brings exactly these files into the folder of a volume. */
export async function writeFiles(path: string, files: Files, { owner }: { readonly owner: RunAs | undefined }): Promise<string> {
  await makeFolder(dirname(path), 0o711);
  await mkdir(path, { recursive: true, mode: 0o700 });
  const fresh = await mkdtemp(`${path}/${DATA}-`);
  for (const [name, content] of files) {
    const file = join(fresh, fileName(name));
    await makeFolder(dirname(file), 0o755);
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
    await giveFile(file, owner);
  }
  for (const folder of [fresh, path]) await giveTo(folder, reader(owner), owner?.isRootInside ? 0o755 : owner ? 0o750 : 0o700);
  await link(path, DATA, basename(fresh));
  const names = new Set([...files.keys()].map((name) => name.split('/', 1)[0] ?? ''));
  for (const name of names) await link(path, name, join(DATA, name));
  const kept = new Set([...names, DATA, basename(fresh)]);
  for (const name of await readdir(path)) if (!kept.has(name)) await rm(join(path, name), { recursive: true, force: true });
  return path;
}

/** True when the folder has exactly these files. */
export async function hasFiles(path: string, files: Files): Promise<boolean> {
  const data = join(path, DATA);
  const names = await readdir(data, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (names?.filter((entry) => !entry.isDirectory()).length !== files.size) return false;
  for (const [name, content] of files) {
    const written = await readFile(join(data, fileName(name))).catch(() => undefined);
    if (!written?.equals(Buffer.from(content))) return false;
  }
  return true;
}

/** Lets whoever the Pod runs as read a file. */
export async function giveFile(path: string, owner: RunAs | undefined): Promise<void> {
  await giveTo(path, reader(owner), owner?.isRootInside ? 0o644 : owner ? 0o440 : 0o400);
}

/** Gives a file or folder of a volume to whoever the Pod runs as. */
export async function giveTo(path: string, owner: RunAs | undefined, mode: number): Promise<void> {
  if (owner) await chown(path, owner.uid, owner.gid);
  await chmod(path, mode);
}

/** A relative path that stays where it is joined to. */
export function inside(path: string, what: string): string {
  const isSafe = path !== '' && !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isSafe) throw new ApiError('Invalid', `${JSON.stringify(path)} is not a usable ${what}`);
  return path;
}

function reader(owner: RunAs | undefined): RunAs | undefined {
  return owner && !owner.isRootInside ? { ...owner, uid: process.getuid?.() ?? 0 } : owner;
}

/** Names that begin with two dots are ours. */
function fileName(name: string): string {
  if (name.startsWith('..')) throw new ApiError('Invalid', `${JSON.stringify(name)} is not a usable file name: it begins with ".."`);
  return inside(name, 'file name');
}

/** In one step; where an earlier version has left a file or a folder of that name, it goes first. */
async function link(path: string, name: string, target: string): Promise<void> {
  const place = join(path, name);
  const found = await lstat(place).catch(() => undefined);
  if (found?.isSymbolicLink() && (await readlink(place)) === target) return;
  if (found && !found.isSymbolicLink()) await rm(place, { recursive: true, force: true });
  const fresh = join(path, `${DATA}.new`);
  await rm(fresh, { force: true });
  await symlink(target, fresh);
  await rename(fresh, place);
}

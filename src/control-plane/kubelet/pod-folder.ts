/**
 * The folder of one Pod, laid out as a kubelet does it, so that others find a Pod's volumes by its uid:
 *
 *   pod.json                                        whose folder this is, the address it holds for life, of which cluster it is
 *   volumes/kubernetes.io~empty-dir/NAME/           and other kinds beside it
 *   root/CONTAINER/MOUNT/PATH -> a volume           what $CONTAINER_SANDBOX_MOUNT_POINT names
 *   containers/CONTAINER/state.json, 0.log, 1.log   one log per run
 */
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PODS_FOLDER, type PodVolumeKind, podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { ApiError } from '../../base/errors.ts';
import { type PodRecord, readPodRecord, writePodRecord } from '../../base/node/pod-record.ts';
import { CONTAINERS_FOLDER } from '../../base/node/pod-sandbox.ts';

const SEGMENT = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Where the folders of all Pods are. */
export function podsDir(rootDir: string): string {
  return join(rootDir, PODS_FOLDER);
}

/** The folder of a Pod; refuses a uid that is not one plain name. */
export function podDir(rootDir: string, uid: string): string {
  return join(rootDir, podPath(segment(uid, 'Pod uid')));
}

/** Where a volume of this kind and name is. */
export function volumeDir(dir: string, kind: PodVolumeKind, name: string): string {
  return join(dir, podVolumePath(kind, segment(name, 'volume name')));
}

/** What a container sees as the root of its mounts. */
export function sandboxDir(dir: string, container: string): string {
  return join(dir, 'root', segment(container, 'container name'));
}

export function containerDir(dir: string, container: string): string {
  return join(dir, CONTAINERS_FOLDER, segment(container, 'container name'));
}

/** Every uid that has a folder here. */
export function listPodUids(rootDir: string): string[] {
  if (!existsSync(podsDir(rootDir))) return [];
  return readdirSync(podsDir(rootDir)).filter((name) => SEGMENT.test(name));
}

/** The containers that left a trace in this folder. */
export function listContainers(dir: string): string[] {
  const path = join(dir, CONTAINERS_FOLDER);
  return existsSync(path) ? readdirSync(path).filter((name) => SEGMENT.test(name)) : [];
}

/** Makes the folder and writes down whose it is. Its own user passes through but does not look around; without one others do, too. */
export async function createPodFolder(dir: string, record: PodRecord): Promise<void> {
  for (const name of ['volumes', 'root', CONTAINERS_FOLDER]) await makeFolder(join(dir, name), 0o711);
  if (record.user) {
    await chown(dir, process.getuid?.() ?? 0, record.user.gid);
    await chmod(dir, 0o710);
  }
  await writePodRecord(dir, record);
}

/** Makes a folder and those above it that are missing, all with this mode whatever the umask says. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let each = path; each.length >= first.length; each = dirname(each)) await chmod(each, mode);
}

/** Whose folder this is; undefined when it is not there or was never finished. */
export function readPodIdentity(dir: string): PodRecord | undefined {
  return readPodRecord(dir);
}

/** Removes the folder with everything in it. Links are removed, never followed. */
export async function removePodFolder(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM'))) throw error;
    await openUp(dir); // a container may have closed folders of its own to us, who are the same user
    await rm(dir, { recursive: true, force: true });
  }
}

async function openUp(dir: string): Promise<void> {
  await chmod(dir, 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true })) if (entry.isDirectory()) await openUp(join(dir, entry.name));
}

function segment(name: string, what: string): string {
  if (!SEGMENT.test(name) || name.length > 253) throw new ApiError('Invalid', `${JSON.stringify(name)} is not a valid ${what}`);
  return name;
}

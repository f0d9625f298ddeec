/** The folders behind the claims of a Pod. */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import type { Pod } from '../../api/core/pod.ts';
import {
  ANNOTATION_PROVISIONED_BY,
  LOCAL_PROVISIONER,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolume,
} from '../../api/core/volume.ts';
import { QEMU_USER } from '../../api/launcher/compute.ts';
import { ApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import type { PodUsers } from './pod-users.ts';

export type ClaimOptions = { readonly pod: Pod; readonly client: Client };

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** The volume that a claim of this Pod holds. */
export async function volumeOfClaim(name: string, { pod, client }: ClaimOptions): Promise<PersistentVolume> {
  const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace: pod.metadata.namespace, name });
  if (!claim) throw new ApiError('NotFound', `persistentvolumeclaim "${name}" not found`);
  if (claim.metadata.deletionTimestamp) throw new ApiError('Conflict', `persistentvolumeclaim "${name}" is being deleted`);
  const { volumeName } = claim.spec;
  if (claim.status?.phase !== 'Bound' || !volumeName) throw new ApiError('Conflict', `persistentvolumeclaim "${name}" is not bound yet`);
  const volume = await client.get(PERSISTENT_VOLUMES, { name: volumeName });
  if (volume?.spec.claimRef?.uid !== claim.metadata.uid)
    throw new ApiError('Conflict', `persistentvolumeclaim "${name}" does not hold volume "${volumeName}"`);
  return volume as PersistentVolume; // without one there is no claimRef either
}

/** True for a folder that we made for a claim; others are an administrator's, and stay as they are. */
export function isProvisioned({ metadata }: PersistentVolume): boolean {
  return metadata.annotations?.[ANNOTATION_PROVISIONED_BY] === LOCAL_PROVISIONER;
}

/**
 * Gives the folder of a claim, and what is in it, to the group of those who mount it, as fsGroup does: the folder is ours, so that nobody
 * else gets in, whoever made the files. Below the first level it is done once, when the folder has another group.
 */
export async function shareClaim(folder: string, gid: number, users: PodUsers): Promise<void> {
  const root = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const isNew = (await root.stat()).gid !== gid;
    await shareFiles(root, { gid, users, isDeep: isNew });
    await root.chown(process.getuid?.() ?? 0, gid); // last: when we are ended before, it is done again
    await root.chmod(0o2770);
  } finally {
    await root.close();
  }
}

type Sharing = { readonly gid: number; readonly users: PodUsers; readonly isDeep: boolean };

/** By open files, never by path: what is in the folder was put there by a guest, which may exchange it for a link at any time. */
async function shareFiles(folder: FileHandle, sharing: Sharing): Promise<void> {
  const path = `/proc/self/fd/${folder.fd}`;
  for (const name of await readdir(path)) {
    const file = await open(`${path}/${name}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined); // a link, a socket, or gone
    if (!file) continue;
    try {
      await shareFile(file, sharing);
    } finally {
      await file.close();
    }
  }
}

async function shareFile(file: FileHandle, sharing: Sharing): Promise<void> {
  const { gid, users, isDeep } = sharing;
  const stat = await file.stat();
  const { uid, gid: gidNow, mode, nlink } = stat;
  const isFolder = stat.isDirectory();
  if (!isFolder && !stat.isFile()) return;
  // A hard link that somebody made to a file of the host: what is ours alone has one name, what is a guest's may have two.
  if (!isFolder && nlink > 1 && uid !== QEMU_USER && !users.has(uid)) return;
  if (isFolder && isDeep) await shareFiles(file, sharing);
  const wanted = (mode & 0o1707) | ((mode & 0o700) >> 3) | (isFolder ? 0o2000 : 0);
  if (gidNow !== gid) await file.chown(uid, gid);
  if ((mode & 0o7777) !== wanted) await file.chmod(wanted);
}

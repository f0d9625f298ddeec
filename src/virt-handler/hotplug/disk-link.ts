/**
 * The socket of a disk that comes while a guest runs, in the folder of the guest's QEMU: moved there from the folder of the Pod that listens at it, under a
 * name that follows from the Pod, and a symbolic link of a name that QEMU is told leads to it. To move a file it takes the right to write to both folders,
 * to link to one it has to be one's own. The link is made first: whatever is left of a Pod, the link names it.
 *
 * Both folders belong to the user of the machine, so no path is followed beyond them: what is moved is what is there, whatever it points to, and a link is
 * believed only when it names what we would have made.
 */
import { lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { ATTACH_SOCKET, pluggedNames } from '../../api/launcher/attachment.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import { sha1Hex } from '../../base/sha1.ts';

/**
 *               nothing is here    something is here
 *   absent      and the Pod of the disk does not listen yet
 *   missing     and the Pod listens
 *   stale                          of another Pod; that of the disk does not listen yet
 *   replaced                       and the Pod listens at another socket
 *   linked                         which is the socket of the Pod
 */
export type DiskLink = 'absent' | 'missing' | 'stale' | 'replaced' | 'linked';
type Ends = {
  readonly kubeletRoot: string;
  /** The folder of QEMU. */
  readonly folder: string;
  readonly volume: string;
  readonly attachPodUid: string | undefined;
};

/** How far the link is. */
export function diskLinkOf(ends: Ends): DiskLink {
  const { folder, volume, attachPodUid = '' } = ends;
  const isHere = kindOf(linkIn(ends)) !== undefined;
  // A Pod that listens anew has another socket than the one that was moved.
  if (kindOf(sourceOf(ends)) === 'socket') return isHere ? 'replaced' : 'missing';
  if (!isHere) return 'absent';
  const own = nameOf(volume, attachPodUid);
  return targetOf(ends) === own && kindOf(join(folder, own)) === 'socket' ? 'linked' : 'stale';
}

/** Puts the socket of the Pod in place of any other. Without one nothing is touched: it cannot be had twice. */
export function linkDisk(ends: Ends): void {
  const { folder, volume, attachPodUid = '' } = ends;
  const source = sourceOf(ends);
  if (source === undefined || kindOf(source) !== 'socket') return;
  const own = nameOf(volume, attachPodUid);
  if (targetOf(ends) !== own) {
    unlinkDisk(ends);
    symlinkSync(own, linkIn(ends));
  }
  renameSync(source, join(folder, own));
}

/** The socket before the link that names it. */
export function unlinkDisk(ends: Pick<Ends, 'folder' | 'volume'>): void {
  const target = targetOf(ends);
  if (target !== undefined) rmSync(join(ends.folder, target), { force: true });
  rmSync(linkIn(ends), { force: true });
}

function linkIn({ folder, volume }: Pick<Ends, 'folder' | 'volume'>): string {
  return join(folder, pluggedNames(volume).socket);
}

function nameOf(volume: string, podUid: string): string {
  return `${pluggedNames(volume).device}-${sha1Hex(podUid).slice(0, 12)}.sock`;
}

/** What the link names; undefined when it is none, or none that we made. */
function targetOf(ends: Pick<Ends, 'folder' | 'volume'>): string | undefined {
  try {
    const target = readlinkSync(linkIn(ends));
    return new RegExp(`^${pluggedNames(ends.volume).device}-[0-9a-f]{12}\\.sock$`).test(target) ? target : undefined;
  } catch {
    return undefined; // not there, or no link
  }
}

/** Its uid becomes part of a path. */
function sourceOf({ kubeletRoot, attachPodUid = '' }: Ends): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/.test(attachPodUid)) return undefined;
  return join(kubeletRoot, podPath(attachPodUid), podVolumePath('empty-dir', PUBLIC_VOLUME.name), ATTACH_SOCKET);
}

function kindOf(path: string | undefined): 'socket' | 'other' | undefined {
  const found = path === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false });
  return found && (found.isSocket() ? 'socket' : 'other');
}

/**
 * The socket of a disk that comes while a guest runs, in the folder of the guest's QEMU: a hard link to the one that the Pod of the disk listens at.
 * Both folders belong to the user of the machine, so neither path is followed beyond them: a link takes what is there, whatever it points to.
 */
import { linkSync, rmSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { ATTACH_SOCKET, pluggedNames } from '../../api/launcher/attachment.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';

/** `absent`: the Pod of the disk does not listen yet. `stale`: the link is to another socket than that of the Pod. */
export type DiskLink = 'absent' | 'missing' | 'stale' | 'linked';
type Ends = {
  readonly kubeletRoot: string;
  /** The folder of QEMU. */
  readonly folder: string;
  readonly volume: string;
  readonly attachPodUid: string | undefined;
};

/** How far the link is. */
export async function diskLinkOf(ends: Ends): Promise<DiskLink> {
  const [there, here] = await Promise.all([socketAt(sourceOf(ends)), socketAt(join(ends.folder, pluggedNames(ends.volume).socket))]);
  if (!there) return here ? 'stale' : 'absent';
  if (!here) return 'missing';
  return here.ino === there.ino && here.dev === there.dev ? 'linked' : 'stale';
}

/** Puts the socket of the Pod in place of whatever is there. */
export function linkDisk(ends: Ends): void {
  const source = sourceOf(ends);
  if (source === undefined) return;
  unlinkDisk(ends);
  linkSync(source, join(ends.folder, pluggedNames(ends.volume).socket));
}

export function unlinkDisk({ folder, volume }: Pick<Ends, 'folder' | 'volume'>): void {
  rmSync(join(folder, pluggedNames(volume).socket), { force: true });
}

/** Its uid becomes part of a path. */
function sourceOf({ kubeletRoot, attachPodUid = '' }: Ends): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/.test(attachPodUid)) return undefined;
  return join(kubeletRoot, podPath(attachPodUid), podVolumePath('empty-dir', PUBLIC_VOLUME.name), ATTACH_SOCKET);
}

async function socketAt(path: string | undefined) {
  const found = path === undefined ? undefined : await lstat(path).catch(() => undefined); // not there
  return found?.isSocket() ? found : undefined;
}

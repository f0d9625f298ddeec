/** What the embedded kubelet says of the folder behind a PVC: one of the host is shared with the guest and with nobody else. */
import { lstatSync, readlinkSync } from 'node:fs';
import { type SharedFolderKind, sharedFolderKindOf } from '../api/core/pod-folder-layout.ts';
import { claimMount } from '../api/launcher/mounts.ts';
import { UserError } from '../base/errors.ts';
import { sandboxPath } from '../base/node/sandbox-path.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** As what the folder of this volume is shared; undefined for every other PVC. Asked as root, who alone may look there. Its link is the kubelet's, in a folder where no Pod writes. */
export function sharedFolderAt(volume: string, env: Environment): SharedFolderKind | undefined {
  const path = sandboxPath(claimMount(volume).mountPath, env);
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined; // a mount, where there is no embedded kubelet, or nothing
  return sharedFolderKindOf(readlinkSync(path));
}

/** A disk would be made and changed in the folder, as if it were ours. */
export function refuseSharedFolder(volume: string, env: Environment): void {
  if (sharedFolderAt(volume, env))
    throw new UserError('VOLUME_UNSUPPORTED', `volume ${JSON.stringify(volume)} cannot be a disk`, {
      why: 'its PVC is a folder of the host, which is shared as a folder',
      fix: 'name it in spec.domain.devices.filesystems',
    });
}

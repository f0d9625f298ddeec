/** Where a kubelet keeps the volumes of a Pod on its node: the part of its layout that others rely on. Relative paths. */

/** The folder of all Pods. */
export const PODS_FOLDER = 'pods';
/** The folder of a claim in Block mode, of which a Pod sees one file. */
const BLOCK_DEVICE = 'block-device';
export type PodVolumeKind =
  | 'empty-dir'
  | 'secret'
  | 'configmap'
  | 'image'
  | 'host-path'
  | 'local-volume'
  | typeof BLOCK_DEVICE
  | 'downward-api'
  | 'projected'
  | SharedFolderKind;
/** Folders of the host: who mounts one is told by its place what it may do there, whatever its own spec says. */
export type SharedFolderKind = 'shared-folder' | 'shared-folder-read-only';

/** The folder of one Pod, below the root of the kubelet. */
export function podPath(uid: string): string {
  return `${PODS_FOLDER}/${uid}`;
}

/** The folder of a volume, below that of its Pod. */
export function podVolumePath(kind: PodVolumeKind, name: string): string {
  return `volumes/kubernetes.io~${kind}/${name}`;
}

/** What a volume is shared as, by its path; undefined when it is none of these. */
export function sharedFolderKindOf(path: string): SharedFolderKind | undefined {
  return /(?:^|\/)volumes\/kubernetes\.io~(shared-folder(?:-read-only)?)\/[^/]+$/.exec(path)?.[1] as SharedFolderKind | undefined; // one of the two
}

/** True for the path of a volume that is to be seen as a device. */
export function isDevicePath(path: string): boolean {
  return new RegExp(`(?:^|/)volumes/kubernetes\\.io~${BLOCK_DEVICE}/[^/]+$`).test(path);
}

/** Where a kubelet keeps the volumes of a Pod on its node: the part of its layout that others rely on. Relative paths. */

/** The folder of all Pods. */
export const PODS_FOLDER = 'pods';
export type PodVolumeKind = 'empty-dir' | 'secret' | 'configmap' | 'image' | 'host-path' | 'local-volume' | 'downward-api' | 'projected';

/** The folder of one Pod, below the root of the kubelet. */
export function podPath(uid: string): string {
  return `${PODS_FOLDER}/${uid}`;
}

/** The folder of a volume, below that of its Pod. */
export function podVolumePath(kind: PodVolumeKind, name: string): string {
  return `volumes/kubernetes.io~${kind}/${name}`;
}

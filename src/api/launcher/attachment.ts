/**
 * How a volume reaches a guest that runs: a Pod of its own mounts the claim and serves its disk at a socket, virt-handler puts that socket into the
 * folder of QEMU, and QEMU is told to connect to it.
 */
import { sha1Hex } from '../../base/sha1.ts';
import { isControlledBy, type KubeObject } from '../meta.ts';
import { isCurrentLauncherOf, type LauncherOwner } from './pod-name.ts';

/** What virt-launcher is told to do in such a Pod. */
export const ATTACH_COMMAND = 'attach';
export const ATTACH_CONTAINER = 'hotplug-disk';
/** The value of the label that KubeVirt gives to such Pods. */
export const ATTACHMENT_COMPONENT = 'hotplug-disk';
/** In the public volume of the Pod. */
export const ATTACH_SOCKET = 'disk.sock';
/** What the disk is called at that socket. */
export const ATTACH_EXPORT = 'disk';

/** Follows from the instance and the volume: there is never a second Pod for one volume. */
export function attachmentPodNameOf({ metadata: { uid = '' } }: KubeObject, volume: string): string {
  return `hp-volume-${sha1Hex(`${uid}/${volume}`).slice(0, 10)}`;
}

/** True for the Pod that attaches one of these volumes to the guest in `launcher`; labels and owner references alone are claims of whoever wrote them. */
export function isAttachmentOf(pod: KubeObject, of: { vmi: LauncherOwner; launcher: KubeObject; volumes: readonly string[] }): boolean {
  const { vmi, launcher, volumes } = of;
  const isOwn = isControlledBy(pod, launcher) && pod.metadata.namespace === launcher.metadata.namespace;
  return isOwn && isCurrentLauncherOf(launcher, vmi) && volumes.some((volume) => attachmentPodNameOf(vmi, volume) === pod.metadata.name);
}

/** How QMP calls the device and the block node of a plugged volume, and the socket in the folder of QEMU. Node names end at 31 characters. */
export function pluggedNames(volume: string): { readonly device: string; readonly node: string; readonly socket: string } {
  const digest = sha1Hex(volume).slice(0, 12);
  return { device: `plug-${digest}`, node: `plugged-${digest}`, socket: `plug-${digest}.sock` };
}

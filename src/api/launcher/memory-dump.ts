/**
 * How a dump of a guest's memory gets to a PVC: a Pod beside the launcher mounts the claim and writes what comes at a socket; virt-handler reads what
 * QEMU writes to a pipe, and sends it there.
 */
import type { KubeObject } from '../meta.ts';
import { attachmentPodNameOf, isAttachmentOf } from './attachment.ts';
import type { LauncherOwner } from './pod-name.ts';

/** What virt-launcher is told to do in such a Pod. */
export const DUMP_COMMAND = 'dump';
export const DUMP_CONTAINER = 'guest-dump';
/** In the public volume of that Pod. */
export const DUMP_SOCKET = 'dump.sock';
/** What every dump on a PVC is called at the end. */
export const DUMP_SUFFIX = '.memory.dump';
/** How long the mark at the end of a stream is. */
export const DUMP_END_LENGTH = 32;

/** The first line: what comes, and how large it can get. It is answered before the guest is stopped. */
export type DumpHead = {
  readonly fileName: string;
  readonly bytes: number;
  /** What a stream that is whole ends with: nobody knows it before, so no guest has it in its memory. */
  readonly end: string;
};
/** What the Pod answers: to the head, and when all of it is on the disk. */
export type DumpAnswer = { readonly ready: true } | { readonly written: number } | { readonly error: string };

/** No volume of an instance has a slash in its name. */
const NO_VOLUME = 'dump/';

/** Follows from the instance: there is never a second one. */
export function dumpPodNameOf(vmi: KubeObject): string {
  return attachmentPodNameOf(vmi, NO_VOLUME);
}

/** True for the Pod that writes a dump of the guest in `launcher`. */
export function isDumpPodOf(pod: KubeObject, of: { readonly vmi: LauncherOwner; readonly launcher: KubeObject }): boolean {
  return isAttachmentOf(pod, { ...of, volumes: [NO_VOLUME] });
}

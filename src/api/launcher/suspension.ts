/**
 * How the memory of a guest gets to a PVC and back: a Pod beside the launcher mounts the claim and writes what comes at a socket; the launcher
 * that continues has the claim from its start, and hands the file to QEMU.
 */
import type { KubeObject } from '../meta.ts';
import { attachmentPodNameOf, isAttachmentOf } from './attachment.ts';
import type { LauncherOwner } from './pod-name.ts';

/** What virt-launcher is told to do in such a Pod. */
export const SAVE_COMMAND = 'save';
export const SAVE_CONTAINER = 'suspend-guest';
/** In the public volume of that Pod. */
export const SAVE_SOCKET = 'suspend.sock';
/** In the public volume of a launcher: what its machine is made of, by which one that could load its memory is known. */
export const MACHINE_FILE = 'machine.digest';
/** Where QEMU of a launcher that continues a guest reads its memory: what stood there before is nobody's. */
export const MEMORY_DESCRIPTOR = 0;

/** What is told about a guest before its memory. */
export type SavedMachine = {
  /** The digest of MACHINE_FILE. */
  readonly machine: string;
  readonly qemu: string;
  readonly accelerator: string;
};
/** Whose memory it is, when it is that of another machine. */
export type ResumeOrigin = { readonly name: string; readonly firmwareUUID?: string };
/** What a Pod that writes memory answers. */
export type SaveAnswer = { readonly digest: string; readonly bytes: number } | { readonly error: string };

/** No volume of an instance has a slash in its name. */
const NO_VOLUME = 'memory/';

/** Follows from the instance: there is never a second one. */
export function savePodNameOf(vmi: KubeObject): string {
  return attachmentPodNameOf(vmi, NO_VOLUME);
}

/** True for the Pod that saves the memory of the guest in `launcher`. */
export function isSavePodOf(pod: KubeObject, of: { readonly vmi: LauncherOwner; readonly launcher: KubeObject }): boolean {
  return isAttachmentOf(pod, { ...of, volumes: [NO_VOLUME] });
}

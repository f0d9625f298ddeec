/**
 * How the disks of a running guest get to a PVC: a Pod beside the launcher mounts the claim, makes an empty file for each disk and serves these at a
 * socket, which virt-handler moves into QEMU's folder. QEMU writes there. What is said at the other socket of the Pod decides what becomes of the files.
 */
import type { KubeObject } from '../meta.ts';
import { attachmentPodNameOf, isAttachmentOf } from './attachment.ts';
import type { LauncherOwner } from './pod-name.ts';

/** What virt-launcher is told to do in such a Pod. */
export const BACKUP_COMMAND = 'backup';
export const BACKUP_CONTAINER = 'guest-backup';
/** In the public volume of that Pod: where it is told what to make, and that it is whole. The disks are at ATTACH_SOCKET. */
export const BACKUP_SOCKET = 'backup.sock';
/** Beside the files of a backup: what they are. */
export const BACKUP_NOTE = 'backup.json';
/** The last line to the Pod: without it nothing stays. */
export const BACKUP_WHOLE = 'whole';

export type BackupDisk = { readonly volume: string; readonly bytes: number };
/** The first line: what is to be made. It is answered when QEMU can write. */
export type BackupHead = {
  /** MACHINE/CHECKPOINT, which is there when all of it is. */
  readonly folder: string;
  /** The checkpoint that an incremental one builds on. */
  readonly base?: string;
  /** How much is to be written, as far as that is known. */
  readonly bytes: number;
  readonly disks: readonly BackupDisk[];
};
/** What the Pod answers: to the head, and when everything is on the disk. */
export type BackupAnswer = { readonly ready: true } | { readonly written: number } | { readonly error: string };

/** What a disk is called at the socket, and its file. */
export function exportNameOf(index: number): string {
  return `disk${index}`;
}

export function backupFileOf(volume: string): string {
  return `${volume}.qcow2`;
}

/** No volume of an instance has a slash in its name. */
export const BACKUP_PLACE = 'backup-of-disks/';

/** Follows from the instance: there is never a second one. */
export function backupPodNameOf(vmi: KubeObject): string {
  return attachmentPodNameOf(vmi, BACKUP_PLACE);
}

/** True for the Pod that writes a backup of the guest in `launcher`. */
export function isBackupPodOf(pod: KubeObject, of: { readonly vmi: LauncherOwner; readonly launcher: KubeObject }): boolean {
  return isAttachmentOf(pod, { ...of, volumes: [BACKUP_PLACE] });
}

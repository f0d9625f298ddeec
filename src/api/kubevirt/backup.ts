/** Backups of running machines: which instances are being backed up, and what backups and checkpoints are called. Pure. */
import { sha1Hex } from '../../base/sha1.ts';
import type { KubeObject } from '../meta.ts';
import type { VirtualMachineInstance, VmiStatus } from './kinds/virtual-machine-instance.ts';

export type BackupRequest = NonNullable<NonNullable<VmiStatus['changedBlockTracking']>['backupStatus']>;

/** A name on a PVC ends at 255 characters. */
const MOST_OF_NAME = 200;

/** The backup that is made of this instance, or was the last. */
export function backupRequestOf({ status }: Pick<VirtualMachineInstance, 'status'>): BackupRequest | undefined {
  return status?.changedBlockTracking?.backupStatus;
}

/** It has come to its end, well or not. */
export function isRequestOver({ completed, failed }: BackupRequest): boolean {
  return completed === true || failed === true;
}

/** The PVC that the disks of this guest are being backed up to, or are about to be; undefined for any other guest. */
export function backingUpTo(vmi: Pick<VirtualMachineInstance, 'status'>): string | undefined {
  const request = backupRequestOf(vmi);
  return request && !isRequestOver(request) ? (request.claimName ?? '') : undefined;
}

/** Of one backup and no other, of whatever name: a checkpoint that QEMU knows by it is the one that is meant. */
export function checkpointNameOf({ metadata: { name, uid = '' } }: KubeObject): string {
  return `${name.slice(0, MOST_OF_NAME)}-${sha1Hex(uid).slice(0, 8)}`;
}

/** Where the files of a backup are on the PVC. */
export function backupFolderOf(machine: string, backup: KubeObject): string {
  return `${machine}/${checkpointNameOf(backup)}`;
}

/** The status of a backup that follows from what was seen and decided. Pure. */
import type { BackupRequest } from '../../api/kubevirt/backup.ts';
import type { VmBackupConditions } from '../../api/kubevirt/condition-reasons.ts';
import { type NewCondition, withCondition } from '../../api/kubevirt/conditions.ts';
import type { VmBackupStatus } from '../../api/kubevirt/kinds/vm-backup.ts';
import type { Condition } from '../../api/meta.ts';
import type { ObservedVmBackup } from './observed.ts';

export type Outcome =
  | { readonly is: 'waiting' | 'failed'; readonly message: string }
  | { readonly is: 'begun' }
  | { readonly is: 'done'; readonly request: BackupRequest };

/** The whole status; compare it with what is there to know whether to write. */
export function backupStatus({ backup, now }: ObservedVmBackup, outcome: Outcome): VmBackupStatus {
  const before = backup.status ?? {};
  const conditions = saidOf(outcome).reduce<readonly Condition[]>(
    (list, next) => withCondition<VmBackupConditions>(list, next, now),
    before.conditions ?? [],
  );
  return { ...before, ...(outcome.is === 'done' && madeOf(outcome.request)), conditions };
}

function madeOf({ type, checkpointName, volumes }: BackupRequest): Partial<VmBackupStatus> {
  return { ...(type && { type }), ...(checkpointName && { checkpointName }), ...(volumes && { includedVolumes: volumes }) };
}

function saidOf(outcome: Outcome): NewCondition<VmBackupConditions>[] {
  switch (outcome.is) {
    case 'waiting':
      return [{ type: 'Initializing', status: 'True', reason: 'Waiting', message: outcome.message }];
    case 'begun':
      return [
        { type: 'Initializing', status: 'False', reason: 'Initiated', message: 'the instance is asked for it' },
        { type: 'Progressing', status: 'True', reason: 'Initiated', message: 'the disks are being copied' },
      ];
    case 'done':
      return [
        { type: 'Initializing', status: 'False', reason: 'Initiated', message: 'it is made' },
        { type: 'Progressing', status: 'False', reason: 'Completed', message: 'it is made' },
        { type: 'Done', status: 'True', reason: 'Completed', message: whatIsThere(outcome.request) },
        quiesced(outcome.request),
      ];
    case 'failed':
      return [
        { type: 'Initializing', status: 'False', reason: 'Failed', message: 'it has failed' },
        { type: 'Progressing', status: 'False', reason: 'Failed', message: 'it has failed' },
        { type: 'Failed', status: 'True', reason: 'Failed', message: outcome.message },
      ];
  }
}

/** Where it is, what it builds on, and why it is a full one when another was asked for. */
export function whatIsThere({ bytes = 0, folder, claimName, baseCheckpoint, type, backupMsg }: BackupRequest): string {
  const since = type === 'Incremental' ? `, with what has changed since ${baseCheckpoint}` : '';
  return `${Math.ceil(bytes / 2 ** 20)} MiB in ${folder} on PVC ${claimName}${since}${backupMsg === undefined ? '' : `; ${backupMsg}`}`;
}

function quiesced({ quiesceStatus = 'Skipped' }: BackupRequest): NewCondition<VmBackupConditions> {
  switch (quiesceStatus) {
    case 'Succeeded':
      return { type: 'Quiesced', status: 'True', reason: 'QuiesceSucceeded', message: 'the guest agent had frozen all file systems' };
    case 'Failed':
      return {
        type: 'Quiesced',
        status: 'False',
        reason: 'QuiesceFailed',
        message: 'the agent did not freeze them: as after a power failure',
      };
    case 'Skipped':
      return { type: 'Quiesced', status: 'False', reason: 'QuiesceSkipped', message: 'no agent was asked: as after a power failure' };
  }
}

/** How a backup of a running machine is told by its instance: what virt-controller asks for, and what virt-handler has done. As published, with what we need besides. */
import { boolean, integer, list, object, oneOf, optional, text, time } from '../schema/dsl.ts';

export const BACKUP_TYPES = ['Full', 'Incremental'] as const;

export const backupVolumesSchema = list(
  'The volumes that are in it.',
  object('One of them.', {
    volumeName: text('Its name in the instance.'),
    diskTarget: text('What the guest is likely to call its disk.'),
  }),
);

const backupStatusSchema = object('The backup that is being made, or was the last.', {
  backupName: optional(text('The VirtualMachineBackup.')),
  checkpointName: optional(text('The checkpoint that it makes: from there on changed blocks are remembered.')),
  startTimestamp: optional(time('When it began.')),
  endTimestamp: optional(time('When it ended.')),
  completed: optional(boolean('All of it is on the PVC.')),
  failed: optional(boolean('It failed, and nothing of it is on the PVC.')),
  backupMsg: optional(text('Why it failed, or what else is to be known.')),
  quiesceStatus: optional(
    oneOf('Whether the guest agent froze the file systems for the moment of it.', ['Succeeded', 'Failed', 'Skipped']),
  ),
  volumes: optional(backupVolumesSchema),
  backupUID: optional(text('Ours: the uid of the VirtualMachineBackup.')),
  claimName: optional(text('Ours: the PVC that it goes to.')),
  folder: optional(text('Ours: where it is on the PVC.')),
  baseCheckpoint: optional(text('Ours: what an incremental one is to build on, if the guest still knows it.')),
  keptCheckpoints: optional(list('Ours: what trackers still need; all others are forgotten.', text('A checkpoint.'))),
  skipQuiesce: optional(boolean('Ours: the guest agent is not asked to freeze the file systems.')),
  podUID: optional(text('Ours: the Pod that writes it; there when it is ready to.')),
  abort: optional(boolean('Ours: nobody wants it any more.')),
  type: optional(oneOf('Ours: what it has become.', BACKUP_TYPES)),
  bytes: optional(integer('Ours: how large its files are.', { minimum: 0, format: 'int64' })),
});

export const changedBlockTrackingSchema = object(
  'Whether QEMU remembers which blocks of the disks have changed, and the backup that is made of them.',
  {
    state: oneOf('Enabled while it remembers; Disabled before the first backup with a tracker, and after a start.', [
      'Enabled',
      'Disabled',
    ]),
    backupStatus: optional(backupStatusSchema),
  },
);

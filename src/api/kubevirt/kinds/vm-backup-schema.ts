/** The schema of a VirtualMachineBackup. */
import { boolean, object, oneOf, optional, text } from '../../schema/dsl.ts';
import { BACKUP_TYPES, backupVolumesSchema } from '../backup-status-schema.ts';
import { conditionsSchema } from '../condition-schema.ts';

export const specSchema = object('What is backed up, and where to. It never changes.', {
  source: object('The machine, or a tracker of one, which makes incremental backups possible.', {
    apiGroup: optional(text('kubevirt.io, or backup.kubevirt.io for a tracker.')),
    kind: text('VirtualMachine or VirtualMachineBackupTracker.'),
    name: text('Its name, in the same namespace.'),
  }),
  mode: optional(text('Push, which it is when not given: to a PVC.')),
  pvcName: optional(text('The PVC that it goes to.')),
  skipQuiesce: optional(boolean('The guest agent is not asked to freeze the file systems.')),
  forceFullBackup: optional(boolean('All of it, whatever the tracker knows.')),
});

export const statusSchema = object('How far it is. Written by our components alone.', {
  type: optional(oneOf('What is in it: everything, or what has changed since the last one of the tracker.', BACKUP_TYPES)),
  checkpointName: optional(text('The checkpoint that it made: the next one of the tracker builds on it.')),
  conditions: optional(conditionsSchema),
  includedVolumes: optional(backupVolumesSchema),
});

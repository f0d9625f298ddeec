/** The schema of a VirtualMachineBackupTracker. */
import { object, optional, text, time } from '../../schema/dsl.ts';
import { backupVolumesSchema } from '../backup-status-schema.ts';

export const specSchema = object('Whose backups build on one another. It never changes.', {
  source: object('The machine.', {
    apiGroup: optional(text('kubevirt.io.')),
    kind: text('VirtualMachine.'),
    name: text('Its name, in the same namespace.'),
  }),
});

export const statusSchema = object('What the last backup was. Written by our components alone.', {
  latestCheckpoint: optional(
    object('What the next one builds on.', {
      name: optional(text('Its name.')),
      creationTime: optional(time('When the backup of it was whole.')),
      volumes: optional(backupVolumesSchema),
    }),
  ),
});

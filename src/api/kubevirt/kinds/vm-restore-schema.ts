/** The schema of a VirtualMachineRestore. */
import { boolean, list, mapOf, object, oneOf, optional, text, time } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { sourceSchema } from './vm-snapshot-schema.ts';

export const specSchema = object('Which machine becomes what it was. It never changes.', {
  target: sourceSchema('The machine; one of a name that is not there is made, and is not started.'),
  virtualMachineSnapshotName: text('The VirtualMachineSnapshot, in the same namespace.'),
  targetReadinessPolicy: optional(
    oneOf('What to do while the machine runs: wait 5 minutes (when not given), stop it, fail, or wait for as long as it takes.', [
      'WaitGracePeriod',
      'StopTarget',
      'FailImmediate',
      'WaitEventually',
    ]),
  ),
  volumeRestorePolicy: optional(
    oneOf(
      'How new PVCs are called: restore-UID-VOLUME, which it is when not given, or TARGET-VOLUME. InPlace: as those of now, which are deleted for it.',
      ['RandomizeNames', 'PrefixTargetName', 'InPlace'],
    ),
  ),
  volumeRestoreOverrides: optional(
    list(
      'What is otherwise for single volumes.',
      object('One volume.', {
        volumeName: text('The volume.'),
        restoreName: optional(text('How its new PVC is called; not with InPlace.')),
        labels: optional(mapOf('Labels of the PVC, beside those that it had.', text('The value.'))),
        annotations: optional(mapOf('Annotations of the PVC, beside those that it had.', text('The value.'))),
      }),
      { maxItems: 1000 },
    ),
  ),
  volumeOwnershipPolicy: optional(oneOf('Whether new PVCs go with the machine; Vm when not given.', ['Vm', 'None'])),
});

export const statusSchema = object('How far it is. Written by our components alone.', {
  restores: optional(
    list(
      'What becomes of each volume.',
      object('One volume.', {
        volumeName: text('The volume.'),
        persistentVolumeClaim: text('The PVC that it has then.'),
        volumeSnapshotName: text('The VolumeSnapshot that the PVC begins as.'),
      }),
    ),
  ),
  deletedDataVolumes: optional(list('DataVolumes that had filled PVCs which were replaced in place.', text('Its name.'))),
  restoreTime: optional(time('When it was over.')),
  complete: optional(boolean('It is over, and the machine is what it was.')),
  conditions: optional(conditionsSchema),
});

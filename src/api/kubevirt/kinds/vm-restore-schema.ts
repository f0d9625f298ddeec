/** The schema of a VirtualMachineRestore. */
import { boolean, list, object, oneOf, optional, text, time } from '../../schema/dsl.ts';
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
    oneOf('How new PVCs are called: restore-UID-VOLUME, which it is when not given, or TARGET-VOLUME.', [
      'RandomizeNames',
      'PrefixTargetName',
    ]),
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
  restoreTime: optional(time('When it was over.')),
  complete: optional(boolean('It is over, and the machine is what it was.')),
  conditions: optional(conditionsSchema),
});

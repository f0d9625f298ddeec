/** The schema of a VirtualMachineSnapshotContent. */

import type { PersistentVolumeClaim } from '../../core/volume.ts';
import { boolean, foreign, list, object, optional, text, time } from '../../schema/dsl.ts';
import type { VirtualMachine } from './virtual-machine.ts';
import { errorSchema } from './vm-snapshot-schema.ts';

/** Access modes are words of Kubernetes, which has a type of its own for them. */
type KeptClaim = {
  readonly metadata: PersistentVolumeClaim['metadata'];
  readonly spec: Omit<PersistentVolumeClaim['spec'], 'accessModes'> & { readonly accessModes?: never[] };
};

export const specSchema = object('What was kept of a machine. Written by our components alone.', {
  virtualMachineSnapshotName: optional(text('The VirtualMachineSnapshot that it belongs to.')),
  source: object('What the machine was.', {
    virtualMachine: optional(foreign<Pick<VirtualMachine, 'metadata' | 'spec'>>('The machine, as it was started or, at rest, as it was.')),
  }),
  volumeBackups: optional(
    list(
      'What was kept of its volumes.',
      object('One volume.', {
        volumeName: text('The volume.'),
        persistentVolumeClaim: foreign<KeptClaim>('Its claim, as it was.'),
        volumeSnapshotName: optional(text('The VolumeSnapshot of the claim.')),
      }),
    ),
  ),
});

export const statusSchema = object('How far it is. Written by our components alone.', {
  creationTime: optional(time('The moment that it is of.')),
  readyToUse: optional(boolean('Everything is whole.')),
  error: optional(errorSchema),
  volumeSnapshotStatus: optional(
    list(
      'How far the VolumeSnapshots are.',
      object('One of them.', {
        volumeSnapshotName: text('Its name.'),
        creationTime: optional(time('The moment that it is of.')),
        readyToUse: optional(boolean('It is whole.')),
        error: optional(errorSchema),
      }),
    ),
  ),
});

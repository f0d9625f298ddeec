/** The schema of a VirtualMachineSnapshotContent. */

import type { PersistentVolumeClaim } from '../../core/volume.ts';
import { boolean, foreign, integer, list, object, optional, text, time } from '../../schema/dsl.ts';
import type { VirtualMachine } from './virtual-machine.ts';
import type { VirtualMachineInstance } from './virtual-machine-instance.ts';
import { errorSchema } from './vm-snapshot-schema.ts';

/** Access modes are words of Kubernetes, which has a type of its own for them. */
type KeptClaim = {
  readonly metadata: PersistentVolumeClaim['metadata'];
  readonly spec: Omit<PersistentVolumeClaim['spec'], 'accessModes'> & { readonly accessModes?: never[] };
};

/** An instance without what happened to it. */
export type KeptInstance = Pick<VirtualMachineInstance, 'apiVersion' | 'kind' | 'metadata' | 'spec' | 'status'>;

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
        persistentVolumeClaim: foreign<KeptClaim>('Its PVC, as it was.'),
        volumeSnapshotName: optional(text('The VolumeSnapshot of the PVC.')),
      }),
    ),
  ),
  memory: optional(
    object('Ours: what was kept of its memory.', {
      persistentVolumeClaim: foreign<KeptClaim>('The PVC that it was saved to, as it was.'),
      volumeSnapshotName: text('The VolumeSnapshot of the PVC.'),
      digest: text('Of what was saved, by SHA-256: nothing else is ever loaded.'),
      bytes: optional(integer('How much was saved.', { minimum: 0, format: 'int64' })),
      guestAgent: optional(boolean('The guest had an agent: it can become another machine.')),
      instance: foreign<KeptInstance>('The instance that was saved: the one that resumes is made of it.'),
    }),
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

/** The schema of a VirtualMachineSnapshot. */
import { boolean, list, object, oneOf, optional, text, time } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';

export const sourceSchema = (description: string) =>
  object(description, {
    apiGroup: optional(text('kubevirt.io.')),
    kind: text('VirtualMachine.'),
    name: text('Its name, in the same namespace.'),
  });

export const errorSchema = object('What stands or stood in the way.', {
  message: optional(text('In words.')),
  time: optional(time('When it was first seen.')),
});

export const specSchema = object('Which machine is kept, and what becomes of that. It never changes.', {
  source: sourceSchema('The machine.'),
  deletionPolicy: optional(oneOf('Whether what was kept goes with this object; Delete when not given.', ['Delete', 'Retain'])),
  failureDeadline: optional(text('How long it may take, such as 5m, which it is when not given; 0 for as long as it takes.')),
  memory: optional(
    boolean('Ours: the memory of the guest is kept, too. A machine that runs is suspended for it and resumes when it is taken.'),
  ),
});

export const statusSchema = object('How far the snapshot is. Written by our components alone.', {
  sourceUID: optional(text('The machine that it is of.')),
  virtualMachineSnapshotContentName: optional(text('The VirtualMachineSnapshotContent with what was kept.')),
  creationTime: optional(time('The moment that it is of.')),
  phase: optional(text('InProgress, Succeeded, Failed or Deleting.')),
  readyToUse: optional(boolean('It is whole.')),
  error: optional(errorSchema),
  conditions: optional(conditionsSchema),
  indications: optional(
    list('How it was taken: Online, GuestAgent, NoGuestAgent, Paused, QuiesceTimeout, and Memory, which is ours.', text('One of them.')),
  ),
  pausedInstanceUID: optional(text('Ours: the instance that is paused until its disks are copied.')),
  snapshotVolumes: optional(
    object('Which volumes were kept.', {
      includedVolumes: optional(list('Those on PVCs.', text('The volume.'))),
      excludedVolumes: optional(list('Those that are made anew at each start.', text('The volume.'))),
    }),
  ),
});

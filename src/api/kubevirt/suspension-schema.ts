/** How a machine that is suspended is told: by the machine, which lasts, and by the instance whose memory is saved or loaded. Ours, not KubeVirt's. */
import { boolean, integer, object, oneOf, optional, text, time } from '../schema/dsl.ts';

const saved = {
  claimName: optional(text('The PVC that the memory is on; it belongs to the machine.')),
  digest: optional(text('Of what was saved, by SHA-256: nothing else is ever loaded.')),
  bytes: optional(integer('How much was saved.', { minimum: 0, format: 'int64' })),
  guestAgent: optional(boolean('The guest had an agent when it was saved.')),
  origin: optional(
    object('The machine that the memory is of, when that is another one: the guest gets an identity of its own when it resumes.', {
      name: text('Its name.'),
      firmwareUUID: optional(text('Its firmware UUID. Until the next boot the cloud-init disk is the one that the guest has seen.')),
    }),
  ),
};

export const vmSuspensionSchema = object('There while the machine is suspended, or on the way into it or out of it.', {
  phase: oneOf('How far it is. Discarding: what was saved is to be thrown away.', ['Suspending', 'Suspended', 'Resuming', 'Discarding']),
  instanceUID: optional(text('The instance that is saved.')),
  ...saved,
  savedTimestamp: optional(time('Since when it is suspended.')),
  snapshotName: optional(text('The VirtualMachineSnapshot that it is suspended for: when that is over, it resumes.')),
  message: optional(text('Why it could not be resumed, the last time that was tried.')),
});

export const vmiSuspensionSchema = object('There while the memory of the guest is saved, or loaded.', {
  phase: oneOf('How far it is: Saved and Failed are the two ends of saving, Resumed is the end of loading.', [
    'Saving',
    'Saved',
    'Failed',
    'Resuming',
    'Resumed',
  ]),
  ...saved,
  requestedTimestamp: optional(time('When it was asked for.')),
  podUID: optional(text('The Pod that writes the memory to the PVC; there when it is ready to.')),
  startTimestamp: optional(time('When the guest was stopped to be saved; not there when it was not, or runs on.')),
  message: optional(text('Why it failed.')),
});

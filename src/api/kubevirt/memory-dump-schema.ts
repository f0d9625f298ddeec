/** How a dump of a guest's memory to a PVC is told: by the machine, as published, and by the volume of the instance. */
import { boolean, object, oneOf, optional, text, time } from '../schema/dsl.ts';

/** How far the volume of a dump is, after the phases of every volume that comes while a guest runs. */
export const MEMORY_DUMP_PHASES = ['MemoryDumpInProgress', 'MemoryDumpCompleted', 'MemoryDumpFailed'] as const;
/** How far a dump is, in KubeVirt's words. `Unmounting` and `Dissociating` let go of the PVC: the first when the dump is made, the second for good. */
const REQUEST_PHASES = ['Associating', 'InProgress', 'Unmounting', 'Completed', 'Dissociating', 'Failed'] as const;

export const memoryDumpRequestSchema = object('A dump of the memory of the guest to a PVC: the last one, or the one that is being made.', {
  claimName: text('The PVC.'),
  phase: oneOf('How far it is.', REQUEST_PHASES),
  remove: optional(boolean('The machine is to let go of the PVC, whose content stays.')),
  startTimestamp: optional(time('When the guest was stopped to be dumped.')),
  endTimestamp: optional(time('When all of it was on the PVC, or it failed.')),
  fileName: optional(text('The dump, on the PVC.')),
  message: optional(text('Why it failed.')),
});

export const memoryDumpVolumeSchema = object('The dump of the memory that this volume is for.', {
  claimName: optional(text('The PVC.')),
  targetFileName: optional(text('The file on it.')),
  startTimestamp: optional(time('When it began.')),
  endTimestamp: optional(time('When it ended.')),
});

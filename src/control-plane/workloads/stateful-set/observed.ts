/** What `decide` and `status` look at: one StatefulSet, its Pods, its revisions, and the claims of its Pods. */
import type { StatefulSet } from '../../../api/core/stateful-set.ts';
import type { PersistentVolumeClaim } from '../../../api/core/volume.ts';
import type { Family } from '../candidates.ts';

export type ObservedStatefulSet = Omit<Family, 'taken'> & {
  readonly set: StatefulSet;
  /** Those of the namespace whose names are those of its claim templates. */
  readonly claims: readonly PersistentVolumeClaim[];
  readonly now: number;
};

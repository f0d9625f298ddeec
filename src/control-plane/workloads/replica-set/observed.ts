/** What `decide` and `status` look at: one ReplicaSet and every Pod that may be its own. */
import type { ReplicaSet } from '../../../api/core/replica-set.ts';
import type { Family } from '../candidates.ts';

export type ObservedReplicaSet = Omit<Family, 'revisions'> & {
  readonly set: ReplicaSet;
  /** Why the last attempt to create a Pod failed, until one succeeds. */
  readonly createError?: string | undefined;
  /** Why the last attempt to delete one failed, until one succeeds. */
  readonly deleteError?: string | undefined;
  readonly now: number;
};

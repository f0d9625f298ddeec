/** What `decide` looks at: one Pod of this node, its containers as processes, and what the API should say of them. */
import type { Pod } from '../../api/core/pod.ts';
import type { ContainerRecord, Setback } from './container-record.ts';

export type ObservedPod = {
  /** Undefined when the API no longer has it. */
  readonly pod: Pod | undefined;
  /** It was started under another store: that this one does not have it says nothing. */
  readonly isForeign?: boolean;
  /** Init containers first, in the order of the spec; none before they are taken over. */
  readonly containers: readonly ContainerRecord[];
  readonly volumes: 'absent' | 'preparing' | 'ready' | Setback;
  /** Nobody here looks after it yet. */
  readonly isNew?: boolean;
  /** Every trace of it on this node is gone. */
  readonly isCleanedUp?: boolean;
  /** The address it has for life; of a Pod that is looked after and not cleaned up. */
  readonly podIP?: string | undefined;
  readonly hostIP: string;
  readonly now: number;
};

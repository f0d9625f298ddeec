/** What `decide` and `status` look at: one Deployment and every ReplicaSet that may be its own. */
import type { Deployment } from '../../../api/core/deployment.ts';
import type { Pod } from '../../../api/core/pod.ts';
import type { ReplicaSet } from '../../../api/core/replica-set.ts';

export type ObservedDeployment = {
  readonly deployment: Deployment;
  /** Sets that it controls, and those of its namespace that nobody controls and that fit its selector. */
  readonly replicaSets: readonly ReplicaSet[];
  /** Pods of its sets that have not ended; asked for only where old ones have to be gone before new ones come. */
  readonly pods: readonly Pod[];
  /** Whoever has the name that a set of the current template would get. */
  readonly holder: ReplicaSet | undefined;
  /** A fresh look has shown that this Deployment is still the one we think it is. */
  readonly mayAdopt: boolean;
  readonly now: number;
};

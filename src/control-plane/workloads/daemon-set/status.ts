/** The status of a DaemonSet that follows from its nodes and Pods. Pure. */

import { LABEL_CONTROLLER_REVISION_HASH } from '../../../api/core/controller-revision.ts';
import type { DaemonSet, DaemonSetStatus } from '../../../api/core/daemon-set.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { isPodAvailable, isPodReady } from '../pod-state.ts';

/** A node that the set has to do with. */
export type DaemonNode = {
  readonly name: string;
  /** A Pod of the set should be there. */
  readonly runs: boolean;
  /** One that is there may stay. */
  readonly stays: boolean;
  /** Those that have not ended and are not going, oldest first. */
  readonly pods: readonly Pod[];
};

/** The whole status; numbers that Kubernetes leaves out when they are zero are left out. */
export function deriveDaemonSetStatus(
  set: DaemonSet,
  nodes: readonly DaemonNode[],
  { hash, now }: { hash: string; now: number },
): DaemonSetStatus {
  const wanted = nodes.filter(({ runs }) => runs);
  const having = (is: (pod: Pod) => boolean) => wanted.filter(({ pods }) => pods.some(is)).length;
  const available = having((pod) => isPodAvailable(pod, set.spec.minReadySeconds, now));
  return {
    currentNumberScheduled: having(() => true),
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: nodes.filter(({ runs, pods }) => !runs && pods.length > 0).length,
    numberReady: having(isPodReady),
    numberAvailable: available || undefined,
    numberUnavailable: wanted.length - available || undefined,
    updatedNumberScheduled: having((pod) => pod.metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] === hash) || undefined,
    observedGeneration: set.metadata.generation,
    collisionCount: set.status?.collisionCount,
    conditions: set.status?.conditions,
  };
}

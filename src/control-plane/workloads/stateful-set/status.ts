/** The status of a StatefulSet that follows from its Pods. Pure. */
import { type ControllerRevision, LABEL_CONTROLLER_REVISION_HASH } from '../../../api/core/controller-revision.ts';
import type { Pod } from '../../../api/core/pod.ts';
import type { StatefulSet, StatefulSetStatus } from '../../../api/core/stateful-set.ts';
import { isDeleting } from '../../../api/meta.ts';
import { isPodAvailable, isPodReady } from '../pod-state.ts';
import { revisionHash } from '../template-revisions.ts';

export type Generations = {
  /** Of which Pods below the partition are, and all before an update. */
  readonly current: ControllerRevision;
  /** Of the template as it is now. */
  readonly update: ControllerRevision;
};

/** The whole status. An update is over when every wanted Pod is of it and ready: then it is the current revision. */
export function deriveStatefulSetStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  { current, update, now }: Generations & { now: number },
): StatefulSetStatus {
  const { replicas: wanted = 1, minReadySeconds, updateStrategy } = set.spec;
  const alive = pods.filter((pod) => !isDeleting(pod));
  const of = (revision: ControllerRevision) =>
    alive.filter((pod) => pod.metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] === revisionHash(revision)).length;
  const ready = alive.filter(isPodReady).length;
  const isRolledOut = of(update) === wanted && alive.length === wanted && pods.length === wanted && ready === wanted;
  const isOver =
    updateStrategy?.type !== 'OnDelete' && current !== update && isRolledOut && (updateStrategy?.rollingUpdate?.partition ?? 0) === 0;
  const shown = isOver ? update : current;
  return {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: ready || undefined,
    availableReplicas: alive.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
    currentReplicas: of(shown) || undefined,
    updatedReplicas: of(update) || undefined,
    currentRevision: shown.metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: set.status?.collisionCount ?? 0,
    conditions: set.status?.conditions,
  };
}

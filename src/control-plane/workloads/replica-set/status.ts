/** The status of a ReplicaSet that follows from its Pods. Pure. */
import type { Pod } from '../../../api/core/pod.ts';
import type { ReplicaSetStatus } from '../../../api/core/replica-set.ts';
import { withCondition, withoutCondition } from '../../../api/kubevirt/conditions.ts';
import { isDeleting } from '../../../api/meta.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { isPodAvailable, isPodReady } from '../pod-state.ts';
import type { ObservedReplicaSet } from './observed.ts';

type Conditions = { readonly ReplicaFailure: 'FailedCreate' | 'FailedDelete' };

/** The whole status, given the Pods that count. A number that is zero is left out, as Kubernetes does. */
export function deriveReplicaSetStatus(
  { set, createError, deleteError, now }: ObservedReplicaSet,
  active: readonly Pod[],
): ReplicaSetStatus {
  const { template, minReadySeconds } = set.spec;
  const labels = requirementsOf({ matchLabels: template.metadata?.labels ?? {} });
  const before = set.status?.conditions ?? [];
  const message = isDeleting(set) ? undefined : (createError ?? deleteError);
  const reason = createError === undefined ? 'FailedDelete' : 'FailedCreate';
  const conditions =
    message === undefined
      ? withoutCondition<Conditions>(before, 'ReplicaFailure')
      : withCondition<Conditions>(before, { type: 'ReplicaFailure', status: 'True', reason, message }, now);
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) => matchesLabels(labels, metadata.labels)).length || undefined,
    readyReplicas: active.filter(isPodReady).length || undefined,
    availableReplicas: active.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length || undefined,
    observedGeneration: set.metadata.generation,
    conditions: conditions.length === 0 ? undefined : conditions,
  };
}

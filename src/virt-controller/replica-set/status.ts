/** The status of a replica set that follows from its instances. Pure. */
import { type ReplicaSetConditions, vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition, withoutCondition } from '../../api/kubevirt/conditions.ts';
import type { ReplicaSetStatus } from '../../api/kubevirt/kinds/replica-set.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type Condition, isDeleting } from '../../api/meta.ts';
import { selectorText } from '../../base/selectors.ts';
import type { ObservedReplicaSet } from './observed.ts';

/** The whole status, given the instances that count. */
export function deriveReplicaSetStatus(observed: ObservedReplicaSet, active: readonly VirtualMachineInstance[]): ReplicaSetStatus {
  const { set } = observed;
  return {
    ...set.status,
    replicas: active.length,
    readyReplicas: active.filter((vmi) => vmiIs(vmi, 'Ready')).length,
    labelSelector: selectorText(set.spec.selector),
    conditions: conditionsAfter(observed),
  };
}

function conditionsAfter({ set, createError, deleteError, now }: ObservedReplicaSet): readonly Condition[] {
  const before = set.status?.conditions ?? [];
  const paused = set.spec.paused
    ? withCondition<ReplicaSetConditions>(
        before,
        { type: 'ReplicaPaused', status: 'True', reason: 'Paused', message: 'The controller is paused' },
        now,
      )
    : withoutCondition<ReplicaSetConditions>(before, 'ReplicaPaused');
  const message = createError ?? deleteError;
  if (message === undefined || isDeleting(set)) return withoutCondition<ReplicaSetConditions>(paused, 'ReplicaFailure');
  const reason = createError === undefined ? 'FailedDelete' : 'FailedCreate';
  return withCondition<ReplicaSetConditions>(paused, { type: 'ReplicaFailure', status: 'True', reason, message }, now);
}

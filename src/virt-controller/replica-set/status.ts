/** The status of a replica set that follows from its instances. Pure. */
import { type ReplicaSetConditions, vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition, withoutCondition } from '../../api/kubevirt/conditions.ts';
import type { ReplicaSetStatus, VirtualMachineInstanceReplicaSet } from '../../api/kubevirt/kinds/replica-set.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type Condition, isDeleting } from '../../api/meta.ts';
import { requirementsOf } from '../../base/selectors.ts';
import type { ObservedReplicaSet } from './observed.ts';

/** The whole status, given the instances that count. */
export function deriveReplicaSetStatus(observed: ObservedReplicaSet, active: readonly VirtualMachineInstance[]): ReplicaSetStatus {
  const { set } = observed;
  return {
    ...set.status,
    replicas: active.length,
    readyReplicas: active.filter((vmi) => vmiIs(vmi, 'Ready')).length,
    labelSelector: selectorText(set),
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

/** The form that the scale subresource hands to autoscalers. */
function selectorText({ spec }: VirtualMachineInstanceReplicaSet): string {
  return requirementsOf(spec.selector)
    .map(({ key, operator, values }) => {
      if (operator === 'Exists') return key;
      if (operator === 'DoesNotExist') return `!${key}`;
      if (operator === 'In' && values.length === 1) return `${key}=${values[0]}`;
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.toSorted().join(',')})`;
    })
    .join(',');
}

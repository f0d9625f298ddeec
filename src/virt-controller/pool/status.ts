/** The status of a pool that follows from its machines. Pure. */
import type { ReplicaSetConditions } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition, withoutCondition } from '../../api/kubevirt/conditions.ts';
import type { PoolStatus } from '../../api/kubevirt/kinds/pool.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { type Condition, isDeleting } from '../../api/meta.ts';
import { selectorText } from '../../base/selectors.ts';
import type { ObservedPool } from './observed.ts';

/** The whole status, given the machines that count. */
export function derivePoolStatus(observed: ObservedPool, active: readonly VirtualMachine[]): PoolStatus {
  const { pool } = observed;
  return {
    ...pool.status,
    replicas: active.length,
    readyReplicas: active.filter(({ status }) => status?.ready).length,
    labelSelector: selectorText(pool.spec.selector),
    conditions: conditionsAfter(observed),
  };
}

function conditionsAfter({ pool, createError, deleteError, now }: ObservedPool): readonly Condition[] {
  const before = pool.status?.conditions ?? [];
  const paused = pool.spec.paused
    ? withCondition<ReplicaSetConditions>(
        before,
        { type: 'ReplicaPaused', status: 'True', reason: 'Paused', message: 'The pool is paused' },
        now,
      )
    : withoutCondition<ReplicaSetConditions>(before, 'ReplicaPaused');
  const message = createError ?? deleteError;
  if (message === undefined || isDeleting(pool)) return withoutCondition<ReplicaSetConditions>(paused, 'ReplicaFailure');
  const reason = createError === undefined ? 'FailedDelete' : 'FailedCreate';
  return withCondition<ReplicaSetConditions>(paused, { type: 'ReplicaFailure', status: 'True', reason, message }, now);
}

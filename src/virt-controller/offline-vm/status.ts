/** The status of an OfflineVirtualMachine that follows from the VirtualMachine it keeps. Pure. */
import type { OfflineVmConditions } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition, withoutCondition } from '../../api/kubevirt/conditions.ts';
import type { OfflineVmStatus } from '../../api/kubevirt/kinds/offline-virtual-machine.ts';
import type { Condition } from '../../api/meta.ts';
import { whyNotOurs } from '../../reconcile/decide-owner.ts';
import type { ObservedOfflineVm } from './observed.ts';

/** The whole status; compare it with `ovm.status` to know whether to write. */
export function deriveOfflineVmStatus(observed: ObservedOfflineVm): OfflineVmStatus {
  const { ovm, vm } = observed;
  return { ...ovm.status, created: vm !== undefined, ready: vm?.status?.ready ?? false, conditions: conditionsAfter(observed) };
}

/** Only what keeps us from our work; everything about the machine is in the VM. Empty is left out, as in the published example. */
function conditionsAfter({ ovm, vm, stranger, createError, now }: ObservedOfflineVm): readonly Condition[] | undefined {
  const before = ovm.status?.conditions ?? [];
  const message = ovm.spec.running && !vm ? ((stranger && whyNotOurs(ovm, stranger)) ?? createError) : undefined;
  const after =
    message === undefined
      ? withoutCondition<OfflineVmConditions>(before, 'Failure')
      : withCondition<OfflineVmConditions>(before, { type: 'Failure', status: 'True', reason: 'FailedCreate', message }, now);
  return after.length > 0 ? after : undefined;
}

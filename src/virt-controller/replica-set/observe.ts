/** Gathers what `decideReplicaSet` looks at: the set, its instances, and the orphans beside them. */
import { type VirtualMachineInstanceReplicaSet, VMIRSS } from '../../api/kubevirt/kinds/replica-set.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { controllerOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { BY_CONTROLLER, mayAdopt } from '../../reconcile/owner.ts';
import type { WriteErrors } from '../../reconcile/write-errors.ts';
import type { ObservedReplicaSet } from './observed.ts';

export type ReplicaSetObserver = {
  readonly client: Client;
  readonly clock: Clock;
  readonly replicaSets: Cache<VirtualMachineInstanceReplicaSet>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly createErrors: WriteErrors;
  readonly deleteErrors: WriteErrors;
};

/** What is known of the set with this key; undefined when it is gone. */
export async function observeReplicaSet(observer: ReplicaSetObserver, key: string): Promise<ObservedReplicaSet | undefined> {
  const { client, clock, replicaSets, vmis, createErrors, deleteErrors } = observer;
  const set = replicaSets.get(key);
  if (!set) {
    createErrors.forget(key);
    deleteErrors.forget(key);
    return undefined;
  }
  const orphans = vmis.byIndex(BY_CONTROLLER, '').filter((vmi) => isCandidate(set, vmi));
  const [candidate] = orphans;
  const may = candidate !== undefined && (await mayAdopt({ client, resource: VMIRSS, owner: set, object: candidate }));
  const mine = vmis.byIndex(BY_CONTROLLER, set.metadata.uid ?? '');
  return {
    set,
    vmis: [...mine, ...orphans],
    mayAdopt: may,
    createError: createErrors.get(key),
    deleteError: deleteErrors.get(key),
    now: clock.now(),
  };
}

/** Could be adopted by the set, as far as names and labels tell. */
export function isCandidate(set: VirtualMachineInstanceReplicaSet, vmi: VirtualMachineInstance): boolean {
  const requirements = requirementsOf(set.spec.selector ?? {});
  const isNear = vmi.metadata.namespace === set.metadata.namespace && !controllerOf(vmi);
  return isNear && requirements.length > 0 && matchesLabels(requirements, vmi.metadata.labels);
}

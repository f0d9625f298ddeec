/** Gathers what `decidePool` looks at: the pool, its machines and their guests, and the orphans beside them. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { Node } from '../../api/core/node.ts';
import { POOLS, type VirtualMachinePool } from '../../api/kubevirt/kinds/pool.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { controllerOf, isControlledBy, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { BY_CONTROLLER, mayAdopt } from '../../reconcile/owner.ts';
import type { WriteErrors } from '../../reconcile/write-errors.ts';
import type { ObservedPool } from './observed.ts';

export type PoolObserver = {
  readonly client: Client;
  readonly clock: Clock;
  readonly pools: Cache<VirtualMachinePool>;
  /** By the uid of the pool, under BY_CONTROLLER. */
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly revisions: Cache<ControllerRevision>;
  readonly nodes: Cache<Node>;
  readonly createErrors: WriteErrors;
  readonly deleteErrors: WriteErrors;
};

/** What is known of the pool with this key; undefined when it is gone. */
export async function observePool(observer: PoolObserver, key: string): Promise<ObservedPool | undefined> {
  const { client, clock, pools, vms, vmis, revisions, nodes, createErrors, deleteErrors } = observer;
  const pool = pools.get(key);
  if (!pool) {
    createErrors.forget(key);
    deleteErrors.forget(key);
    return undefined;
  }
  const { uid = '', namespace, name } = pool.metadata;
  const orphans = vms.byIndex(BY_CONTROLLER, '').filter((vm) => isCandidate(pool, vm));
  const mine = vms.byIndex(BY_CONTROLLER, uid);
  const [candidate] = orphans;
  const guests = mine.flatMap((vm) => vmis.get(keyOf(vm.metadata)) ?? []);
  const others = vms.list().filter((vm) => vm.metadata.namespace === namespace && !isControlledBy(vm, pool));
  return {
    pool,
    vms: [...mine, ...orphans],
    takenNames: new Set(others.map(({ metadata }) => metadata.name).filter((each) => each.startsWith(`${name}-`))),
    vmis: new Map(guests.map((vmi) => [vmi.metadata.name, vmi])),
    nodeLabels: new Map(nodes.list().map(({ metadata }) => [metadata.name, metadata.labels ?? {}])),
    revisions: revisions.byIndex(BY_CONTROLLER, uid),
    mayAdopt: candidate !== undefined && (await mayAdopt({ client, resource: POOLS, owner: pool, object: candidate })),
    createError: createErrors.get(key),
    deleteError: deleteErrors.get(key),
    now: clock.now(),
  };
}

/** Could be adopted by the pool, as far as names and labels tell. */
export function isCandidate(pool: VirtualMachinePool, vm: VirtualMachine): boolean {
  const requirements = requirementsOf(pool.spec.selector ?? {});
  const isNear = vm.metadata.namespace === pool.metadata.namespace && !controllerOf(vm);
  return isNear && requirements.length > 0 && matchesLabels(requirements, vm.metadata.labels);
}

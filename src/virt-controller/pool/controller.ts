/** Keeps every VirtualMachinePool at its number and its machines up to date: the loop of `observe`, `decide` and reconcile's apply. */
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decidePool } from './decide.ts';
import { isCandidate, observePool, type PoolObserver } from './observe.ts';
import type { ObservedPool } from './observed.ts';

/** Runs until the signal aborts. */
export function runPoolController(
  options: PoolObserver & Pick<ControllerOptions<ObservedPool>, 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const { client, clock, log, metrics, signal, pools, vms, vmis, revisions } = options;
  const ownerOf = ownerKeysOf('VirtualMachinePool');
  const candidatesOf = (vm: KubeObject) =>
    // the cache that calls this holds nothing but machines
    pools
      .list()
      .filter((pool) => isCandidate(pool, vm as VirtualMachine))
      .map(({ metadata }) => keyOf(metadata));
  return runController<ObservedPool>({
    name: 'virtualmachinepool-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(pools, ({ metadata }) => [keyOf(metadata)]),
      changesOf(vms, (vm) => [...ownerOf(vm), ...candidatesOf(vm)]),
      changesOf(vmis, ({ metadata }) => ownersOf(vms.get(keyOf(metadata)))), // an instance has the name of its machine
      changesOf(revisions, ownerOf),
    ],
    observe: (key) => observePool(options, key),
    decide: decidePool,
    subject: ({ pool }) => pool,
  });

  function ownersOf(vm: KubeObject | undefined): readonly string[] {
    return vm ? ownerOf(vm) : [];
  }
}

/** Keeps every VirtualMachineInstanceReplicaSet at its number: the loop of `observe`, `decide` and reconcile's apply. */

import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideReplicaSet } from './decide.ts';
import { isCandidate, observeReplicaSet, type ReplicaSetObserver } from './observe.ts';
import type { ObservedReplicaSet } from './observed.ts';

/** Runs until the signal aborts. */
export function runReplicaSetController(
  options: ReplicaSetObserver & Pick<ControllerOptions<ObservedReplicaSet>, 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const { client, clock, log, metrics, signal, replicaSets, vmis } = options;
  const ownerOf = ownerKeysOf('VirtualMachineInstanceReplicaSet');
  const candidatesOf = (vmi: KubeObject) =>
    // the cache that calls this holds nothing but instances
    replicaSets
      .list()
      .filter((set) => isCandidate(set, vmi as VirtualMachineInstance))
      .map(({ metadata }) => keyOf(metadata));
  return runController<ObservedReplicaSet>({
    name: 'virtualmachinereplicaset-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(replicaSets, ({ metadata }) => [keyOf(metadata)]),
      changesOf(vmis, (vmi) => [...ownerOf(vmi), ...candidatesOf(vmi)]),
    ],
    observe: (key) => observeReplicaSet(options, key),
    decide: decideReplicaSet,
    subject: ({ set }) => set,
  });
}

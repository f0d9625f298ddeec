/** Keeps every VirtualMachine and its instance in step: the loop of `observe`, `decide` and reconcile's apply. */
import { CHOICE_NAMES, type ChoiceName, kindMeant } from '../../api/kubevirt/instancetype/choices-table.ts';
import { revisionNameOf } from '../../api/kubevirt/instancetype/chosen.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import type { Cache } from '../../client/cache.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf, type Source } from '../../reconcile/source.ts';
import { keysOnSilentNode } from '../node-heartbeat.ts';
import { dataVolumeNamesOf } from './data-volumes.ts';
import { decideVm } from './decide.ts';
import { observeVm, type VmObserver } from './observe.ts';
import type { ObservedVm } from './observed.ts';
import { hasChoices } from './write-out-choices.ts';

const BY_DATA_VOLUME = 'data-volume';
/** Machines by the keys of the DataVolumes that they have or name. */
export const byDataVolume = {
  [BY_DATA_VOLUME]: (vm: VirtualMachine): readonly string[] =>
    dataVolumeNamesOf(vm).map((name) => keyOf({ namespace: vm.metadata.namespace, name })),
};

/** Runs until the signal aborts. */
export function runVmController(options: VmObserver & Pick<ControllerOptions<ObservedVm>, 'log' | 'metrics' | 'signal'>): Promise<void> {
  const { client, clock, log, metrics, signal, vms, vmis, revisions, nodes, choices, configuration, dataVolumes } = options;
  return runController<ObservedVm>({
    name: 'virtualmachine-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(vms, ({ metadata }) => [keyOf(metadata)]),
      changesOf(vmis, ({ metadata }) => [keyOf(metadata)]), // an instance has the name of its VM
      changesOf(revisions, ownerKeysOf('VirtualMachine')),
      ...choices.map((cache) => changesOf(cache, (object) => waitingFor(vms.list(), object))),
      changesOf(dataVolumes, ({ metadata }) => vms.byIndex(BY_DATA_VOLUME, keyOf(metadata)).map((vm) => keyOf(vm.metadata))),
      policyChanges(configuration, vms),
      changesOf(nodes, keysOnSilentNode({ vmis, clock })), // also waited for: a node that is not known yet would be a lost one
    ],
    observe: (key) => observeVm(options, key),
    decide: decideVm,
    subject: ({ vm }) => vm,
  });
}

/** A new policy for instance types and preferences is about every machine that names one. */
function policyChanges(configuration: FollowedConfiguration, vms: Cache<VirtualMachine>): Source {
  return {
    synced: configuration.known,
    subscribe(wake) {
      let isHeard = true;
      configuration.onChange(() => {
        if (isHeard) for (const vm of vms.list()) if (hasChoices(vm)) wake(keyOf(vm.metadata));
      });
      return () => {
        isHeard = false;
      };
    },
  };
}

/** Machines that name this instance type or preference and have no copy of it yet: what is there already stays as it was. */
function waitingFor(vms: readonly VirtualMachine[], { metadata, kind }: KubeObject): string[] {
  return vms
    .filter(
      (vm) =>
        vm.metadata.namespace === (metadata.namespace ?? vm.metadata.namespace) && CHOICE_NAMES.some((choice) => isWaiting(vm, choice)),
    )
    .map((vm) => keyOf(vm.metadata));

  function isWaiting(vm: VirtualMachine, choice: ChoiceName): boolean {
    const matcher = vm.spec[choice];
    return matcher?.name === metadata.name && kindMeant(choice, matcher.kind)?.kind === kind && revisionNameOf(vm, choice) === undefined;
  }
}

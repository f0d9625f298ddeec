/** Removes machines that vmctl derived and can no longer remove itself. */
import { PODS } from '../../api/core/pod.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { fromKey, keyOf } from '../../api/meta.ts';
import type { Cache } from '../../client/cache.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideDerivedVm, type ObservedDerivedVm, podKeyOf } from './decide.ts';

type Options = Pick<ControllerOptions<ObservedDerivedVm>, 'client' | 'clock' | 'log' | 'metrics' | 'signal'> & {
  readonly vms: Cache<VirtualMachine>;
};

/** Runs until the signal aborts. */
export function runDerivedVmController({ vms, ...shared }: Options): Promise<void> {
  return runController<ObservedDerivedVm>({
    ...shared,
    name: 'virt-controller-derived-vm',
    triggers: [changesOf(vms, (vm) => (podKeyOf(vm) === undefined ? [] : [keyOf(vm.metadata)]))],
    observe: async (key) => {
      const vm = vms.get(key);
      const podKey = vm && podKeyOf(vm);
      return vm && podKey ? { vm, pod: await shared.client.get(PODS, fromKey(podKey)) } : undefined;
    },
    decide: decideDerivedVm,
    subject: ({ vm }) => vm,
  });
}

/** VirtualMachine: a guest that can be stopped and started and stays the same machine. */
import type { KubeObject } from '../../meta.ts';
import type { Resource } from '../../resource.ts';
import type { Static } from '../../schema/dsl.ts';
import type { vmSpecSchema, vmStatusSchema } from './virtual-machine-schema.ts';

export type RunStrategy = NonNullable<Static<typeof vmSpecSchema>['runStrategy']>;
export type VmStatus = Static<typeof vmStatusSchema>;
export type StateChangeRequest = NonNullable<VmStatus['stateChangeRequests']>[number];
export type VirtualMachine = KubeObject & {
  readonly kind: 'VirtualMachine';
  readonly spec: Static<typeof vmSpecSchema>;
  readonly status?: VmStatus;
};

export const VMS: Resource<VirtualMachine> = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'virtualmachines',
  kind: 'VirtualMachine',
  isNamespaced: true,
};

/** The strategy in force: `running` is the older way to say Always or Halted. */
export function runStrategyOf(vm: VirtualMachine): RunStrategy {
  if (vm.spec.runStrategy) return vm.spec.runStrategy;
  return vm.spec.running ? 'Always' : 'Halted';
}

/** VirtualMachineInstanceConfig: a configuration from which instances are started and stopped. Edits never reach running instances. */
import type { KubeObject } from '../../meta.ts';
import type { Resource } from '../../resource.ts';
import type { Static } from '../../schema/dsl.ts';
import type { vmiConfigSpecSchema } from './vmi-config-schema.ts';

export type VirtualMachineInstanceConfig = KubeObject & {
  readonly kind: 'VirtualMachineInstanceConfig';
  readonly spec: Static<typeof vmiConfigSpecSchema>;
};

export const VMI_CONFIGS: Resource<VirtualMachineInstanceConfig> = {
  group: 'kubevirt.io',
  version: 'v1alpha2',
  plural: 'virtualmachineinstanceconfigs',
  kind: 'VirtualMachineInstanceConfig',
  isNamespaced: true,
};

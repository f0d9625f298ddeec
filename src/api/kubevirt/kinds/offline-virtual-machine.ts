/** OfflineVirtualMachine: the ancestor of VirtualMachine. While it is to run it keeps a VirtualMachine of its name. */
import type { KubeObject } from '../../meta.ts';
import type { Resource } from '../../resource.ts';
import type { Static } from '../../schema/dsl.ts';
import type { offlineVmSpecSchema, offlineVmStatusSchema } from './offline-virtual-machine-schema.ts';

export type OfflineVmStatus = Static<typeof offlineVmStatusSchema>;
export type OfflineVirtualMachine = KubeObject & {
  readonly kind: 'OfflineVirtualMachine';
  readonly spec: Static<typeof offlineVmSpecSchema>;
  readonly status?: OfflineVmStatus;
};

export const OFFLINE_VMS: Resource<OfflineVirtualMachine> = {
  group: 'kubevirt.io',
  version: 'v1alpha1',
  plural: 'offlinevirtualmachines',
  kind: 'OfflineVirtualMachine',
  isNamespaced: true,
};

/** The schema of every kind of ours. Apart from the records: only the generator and tests load it. */
import type { TSchema } from '../schema/dsl.ts';
import { kubeVirtSpecSchema, kubeVirtStatusSchema } from './kinds/kubevirt-schema.ts';
import { offlineVmSpecSchema, offlineVmStatusSchema } from './kinds/offline-virtual-machine-schema.ts';
import { replicaSetSpecSchema, replicaSetStatusSchema } from './kinds/replica-set-schema.ts';
import { vmiStatusSchema } from './kinds/virtual-machine-instance-schema.ts';
import { vmSpecSchema, vmStatusSchema } from './kinds/virtual-machine-schema.ts';
import { vmiConfigSpecSchema } from './kinds/vmi-config-schema.ts';
import type { KindName } from './kinds-table.ts';
import { vmiSpecSchema } from './vmi-spec-schema.ts';

export type KindSchemas = { readonly spec: TSchema; readonly status?: TSchema };

export const SCHEMAS: Readonly<Record<KindName, KindSchemas>> = {
  VirtualMachine: { spec: vmSpecSchema, status: vmStatusSchema },
  VirtualMachineInstance: { spec: vmiSpecSchema, status: vmiStatusSchema },
  VirtualMachineInstanceReplicaSet: { spec: replicaSetSpecSchema, status: replicaSetStatusSchema },
  OfflineVirtualMachine: { spec: offlineVmSpecSchema, status: offlineVmStatusSchema },
  VirtualMachineInstanceConfig: { spec: vmiConfigSpecSchema },
  KubeVirt: { spec: kubeVirtSpecSchema, status: kubeVirtStatusSchema },
};

/** VirtualMachineInstanceReplicaSet: a number of equal instances, kept at that number. */
import type { KubeObject } from '../../meta.ts';
import type { Resource } from '../../resource.ts';
import type { Static } from '../../schema/dsl.ts';
import type { replicaSetSpecSchema, replicaSetStatusSchema } from './replica-set-schema.ts';

export type ReplicaSetStatus = Static<typeof replicaSetStatusSchema>;
export type VirtualMachineInstanceReplicaSet = KubeObject & {
  readonly kind: 'VirtualMachineInstanceReplicaSet';
  readonly spec: Static<typeof replicaSetSpecSchema>;
  readonly status?: ReplicaSetStatus;
};

export const VMIRSS: Resource<VirtualMachineInstanceReplicaSet> = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'virtualmachineinstancereplicasets',
  kind: 'VirtualMachineInstanceReplicaSet',
  isNamespaced: true,
};

/** VirtualMachineInstanceReplicaSet: a number of equal instances, kept at that number. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import type { replicaSetSpecSchema, replicaSetStatusSchema } from './replica-set-schema.ts';

export type ReplicaSetStatus = Static<typeof replicaSetStatusSchema>;
export type VirtualMachineInstanceReplicaSet = KubeObject & {
  readonly kind: 'VirtualMachineInstanceReplicaSet';
  readonly spec: Static<typeof replicaSetSpecSchema>;
  readonly status?: ReplicaSetStatus;
};

export const VMIRSS = kind<VirtualMachineInstanceReplicaSet>({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstanceReplicaSet',
  plural: 'virtualmachineinstancereplicasets',
  shortNames: ['vmirs', 'vmirss'],
  description: 'A number of equal instances that is kept at that number.',
  versions: ['v1', 'v1alpha3'],
  remark: 'can be scaled',
  columns: [
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas', description: 'How many instances there are to be' },
    { name: 'Current', type: 'integer', jsonPath: '.status.replicas', description: 'How many there are' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'How many of them are ready' },
    AGE,
  ],
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.labelSelector' },
  },
});

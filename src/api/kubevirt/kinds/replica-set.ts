/** VirtualMachineInstanceReplicaSet: a number of equal instances, kept at that number. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { AGE } from '../columns.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './replica-set-schema.ts';

export type ReplicaSetStatus = Static<typeof statusSchema>;
export type VirtualMachineInstanceReplicaSet = KubeObject & {
  readonly kind: 'VirtualMachineInstanceReplicaSet';
  readonly spec: Static<typeof specSchema>;
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
  roles: USUAL_ROLES,
  access: {
    'virt-controller': [
      { verbs: ['get', 'list', 'watch'] },
      { part: 'status', verbs: ['patch'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
  },
});

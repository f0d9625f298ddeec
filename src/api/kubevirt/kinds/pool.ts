/** VirtualMachinePool: a number of machines that are alike, kept at that number and up to date. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { AGE } from '../columns.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './pool-schema.ts';

export type PoolStatus = Static<typeof statusSchema>;
export type VirtualMachinePool = KubeObject & {
  readonly kind: 'VirtualMachinePool';
  readonly spec: Static<typeof specSchema>;
  readonly status?: PoolStatus;
};

export const POOLS = kind<VirtualMachinePool>({
  group: 'pool.kubevirt.io',
  kind: 'VirtualMachinePool',
  plural: 'virtualmachinepools',
  shortNames: ['vmpool', 'vmpools'],
  description: 'A number of machines that are alike, kept at that number and up to date.',
  versions: ['v1beta1', 'v1alpha1'],
  remark: 'can be scaled',
  columns: [
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas', description: 'How many machines there are to be' },
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

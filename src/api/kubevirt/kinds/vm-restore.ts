/** VirtualMachineRestore: a machine becomes what it was, or another one begins as that. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './vm-restore-schema.ts';

export type VmRestoreStatus = Static<typeof statusSchema>;
export type VirtualMachineRestore = KubeObject & {
  readonly kind: 'VirtualMachineRestore';
  readonly spec: Static<typeof specSchema>;
  readonly status?: VmRestoreStatus;
};

export const VM_RESTORES = kind<VirtualMachineRestore>({
  group: 'snapshot.kubevirt.io',
  kind: 'VirtualMachineRestore',
  plural: 'virtualmachinerestores',
  shortNames: ['vmrestore', 'vmrestores'],
  description: 'A machine becomes what it was, or another one begins as that.',
  versions: ['v1beta1', 'v1alpha1'],
  remark: 'to new PVCs, or in place of those that are there',
  columns: [
    { name: 'TargetKind', type: 'string', jsonPath: '.spec.target.kind' },
    { name: 'TargetName', type: 'string', jsonPath: '.spec.target.name' },
    { name: 'Complete', type: 'boolean', jsonPath: '.status.complete' },
    { name: 'RestoreTime', type: 'date', jsonPath: '.status.restoreTime' },
  ],
  subresources: { status: {} },
  roles: USUAL_ROLES,
  access: {
    'virt-controller': [
      { verbs: ['get', 'list', 'watch', 'patch'] },
      { verbs: ['create', 'delete'], because: 'A clone is made by a snapshot and a restore.' },
      { part: 'status', verbs: ['patch'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
  },
  refused: {
    patches: 'the machine becomes what it was; edit it afterwards',
  },
});

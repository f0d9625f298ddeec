/** VirtualMachineSnapshot: a machine and its disks, as they were at one moment. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './vm-snapshot-schema.ts';

export type VmSnapshotStatus = Static<typeof statusSchema>;
export type VirtualMachineSnapshot = KubeObject & {
  readonly kind: 'VirtualMachineSnapshot';
  readonly spec: Static<typeof specSchema>;
  readonly status?: VmSnapshotStatus;
};

export const VM_SNAPSHOTS = kind<VirtualMachineSnapshot>({
  group: 'snapshot.kubevirt.io',
  kind: 'VirtualMachineSnapshot',
  plural: 'virtualmachinesnapshots',
  shortNames: ['vmsnapshot', 'vmsnapshots'],
  description: 'A machine and its disks, as they were at one moment.',
  versions: ['v1beta1', 'v1alpha1'],
  remark: 'by VolumeSnapshots; whole, never a part of the volumes',
  columns: [
    { name: 'SourceKind', type: 'string', jsonPath: '.spec.source.kind' },
    { name: 'SourceName', type: 'string', jsonPath: '.spec.source.name' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'ReadyToUse', type: 'boolean', jsonPath: '.status.readyToUse' },
    { name: 'CreationTime', type: 'date', jsonPath: '.status.creationTime' },
    { name: 'Error', type: 'string', jsonPath: '.status.error.message' },
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
});

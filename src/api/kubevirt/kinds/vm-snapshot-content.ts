/** VirtualMachineSnapshotContent: where what a VirtualMachineSnapshot kept is. */
import { kind, type Verb } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import type { specSchema, statusSchema } from './vm-snapshot-content-schema.ts';

export type VirtualMachineSnapshotContent = KubeObject & {
  readonly kind: 'VirtualMachineSnapshotContent';
  readonly spec: Static<typeof specSchema>;
  readonly status?: Static<typeof statusSchema>;
};

const READ: readonly Verb[] = ['get', 'list', 'watch'];

export const VM_SNAPSHOT_CONTENTS = kind<VirtualMachineSnapshotContent>({
  group: 'snapshot.kubevirt.io',
  kind: 'VirtualMachineSnapshotContent',
  plural: 'virtualmachinesnapshotcontents',
  shortNames: ['vmsnapshotcontent', 'vmsnapshotcontents'],
  description: 'Where what a VirtualMachineSnapshot kept is.',
  versions: ['v1beta1', 'v1alpha1'],
  columns: [
    { name: 'ReadyToUse', type: 'boolean', jsonPath: '.status.readyToUse' },
    { name: 'CreationTime', type: 'date', jsonPath: '.status.creationTime' },
    { name: 'Error', type: 'string', jsonPath: '.status.error.message' },
  ],
  subresources: { status: {} },
  // Made by our components alone: a restore believes what it says.
  roles: { view: READ, edit: READ, admin: [...READ, 'delete', 'deletecollection'] },
  access: {
    'virt-controller': [
      { verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
      { part: 'status', verbs: ['patch'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
  },
});

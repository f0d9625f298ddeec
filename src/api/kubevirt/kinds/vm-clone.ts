/** VirtualMachineClone: another machine begins as one that is there. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './vm-clone-schema.ts';

export type VmCloneStatus = Static<typeof statusSchema>;
export type VirtualMachineClone = KubeObject & {
  readonly kind: 'VirtualMachineClone';
  readonly spec: Static<typeof specSchema>;
  readonly status?: VmCloneStatus;
};

export const VM_CLONES = kind<VirtualMachineClone>({
  group: 'clone.kubevirt.io',
  kind: 'VirtualMachineClone',
  plural: 'virtualmachineclones',
  shortNames: ['vmclone', 'vmclones'],
  description: 'Another machine begins as one that is there.',
  versions: ['v1beta1', 'v1alpha1'],
  remark: 'by a snapshot and a restore; whole, in one step',
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'SourceVirtualMachine', type: 'string', jsonPath: '.spec.source.name' },
    { name: 'TargetVirtualMachine', type: 'string', jsonPath: '.status.targetName' },
  ],
  subresources: { status: {} },
  roles: USUAL_ROLES,
  access: {
    'virt-controller': [
      { verbs: ['get', 'list', 'watch'] },
      { part: 'status', verbs: ['patch'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
  },
  refused: {
    patches: 'edit the new machine, which does not run yet',
  },
});

/** The new machine; a name that is made up follows from the clone, so there is never a second one. */
export function targetNameOf({ metadata: { uid = '' }, spec: { source, target } }: VirtualMachineClone): string {
  return target?.name || `clone-${source.name.slice(0, 48)}-${uid.slice(0, 5)}`;
}

/** OfflineVirtualMachine: the ancestor of VirtualMachine. While it is to run it keeps a VirtualMachine of its name. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { AGE } from '../columns.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './offline-virtual-machine-schema.ts';

export type OfflineVmStatus = Static<typeof statusSchema>;
export type OfflineVirtualMachine = KubeObject & {
  readonly kind: 'OfflineVirtualMachine';
  readonly spec: Static<typeof specSchema>;
  readonly status?: OfflineVmStatus;
};

export const OFFLINE_VMS = kind<OfflineVirtualMachine>({
  group: 'kubevirt.io',
  kind: 'OfflineVirtualMachine',
  plural: 'offlinevirtualmachines',
  shortNames: ['ovm', 'ovms'],
  description: 'The ancestor of VirtualMachine: while it is to run there is a VirtualMachine of its name.',
  versions: ['v1alpha1'],
  remark: 'gone from KubeVirt; kept as its first documents describe it',
  columns: [
    AGE,
    { name: 'Running', type: 'boolean', jsonPath: '.spec.running', description: 'Whether the machine is to run' },
    { name: 'Created', type: 'boolean', jsonPath: '.status.created', description: 'Whether its VirtualMachine is there' },
    { name: 'Ready', type: 'boolean', jsonPath: '.status.ready', description: 'Whether its VirtualMachine is ready' },
  ],
  subresources: { status: {} },
  roles: USUAL_ROLES,
  access: {
    'virt-api': [{ verbs: ['get', 'patch'] }],
    'virt-controller': [
      { verbs: ['get', 'list', 'watch'] },
      { part: 'status', verbs: ['patch'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
  },
  formerSpec: { template: 'VirtualMachineInstanceTemplateSpec' },
});

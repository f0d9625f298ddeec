/** VirtualMachine: a guest that can be stopped and started and stays the same machine. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { AGE, conditionPath } from '../columns.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './virtual-machine-schema.ts';

export type RunStrategy = NonNullable<Static<typeof specSchema>['runStrategy']>;
export type VmStatus = Static<typeof statusSchema>;
export type StateChangeRequest = NonNullable<VmStatus['stateChangeRequests']>[number];
export type VirtualMachine = KubeObject & {
  readonly kind: 'VirtualMachine';
  readonly spec: Static<typeof specSchema>;
  readonly status?: VmStatus;
};

export const VMS = kind<VirtualMachine>({
  group: 'kubevirt.io',
  kind: 'VirtualMachine',
  plural: 'virtualmachines',
  shortNames: ['vm', 'vms'],
  description: 'A machine that can be stopped and started and stays the same machine.',
  versions: ['v1', 'v1alpha3', 'v1alpha2'],
  // The columns of the published example, in its order, and whether the machine is ready.
  columns: [
    AGE,
    { name: 'Status', type: 'string', jsonPath: '.status.printableStatus', description: 'One word for what the machine does' },
    { name: 'Volume', type: 'string', jsonPath: '.spec.template.spec.volumes[0].name', description: 'The first volume of the machine' },
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready') },
  ],
  subresources: { status: {} },
  admission: { validate: { exceptUpdatesBy: ['virt-controller'] }, mutate: { exceptUpdatesBy: ['virt-controller'] } },
  roles: USUAL_ROLES,
  access: {
    'virt-api': [
      { verbs: ['get', 'patch'], because: 'start, stop and restart edit the VM, or leave a request in its status.' },
      { part: 'status', verbs: ['patch'] },
      { verbs: ['delete'], because: 'The restart of an OfflineVirtualMachine.' },
    ],
    'virt-controller': [
      { verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
      { part: 'status', verbs: ['patch'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
  },
  refused: {
    updateVolumesStrategy: 'volumes are replaced at the next start',
  },
});

/** The strategy in force: `running` is the older way to say Always or Halted. */
export function runStrategyOf(vm: VirtualMachine): RunStrategy {
  if (vm.spec.runStrategy) return vm.spec.runStrategy;
  return vm.spec.running ? 'Always' : 'Halted';
}

/** VirtualMachineInstance: one run of a guest. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { AGE, conditionPath } from '../columns.ts';
import type { VmiEndingReason } from '../ending-reasons.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import { REFUSED_OF_VMI } from './virtual-machine-instance-refused-table.ts';
import type { specSchema, statusSchema } from './virtual-machine-instance-schema.ts';

export type VmiStatus = Static<typeof statusSchema>;
export type VmiPhase = NonNullable<VmiStatus['phase']>;
export type VirtualMachineInstance = KubeObject & {
  readonly kind: 'VirtualMachineInstance';
  readonly spec: Static<typeof specSchema>;
  readonly status?: VmiStatus;
};

export const VMIS = kind<VirtualMachineInstance>({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstance',
  plural: 'virtualmachineinstances',
  shortNames: ['vmi', 'vmis'],
  description: 'One run of a guest, from its start to its end.',
  versions: ['v1', 'v1alpha3', 'v1alpha2'],
  columns: [
    AGE,
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'IP', type: 'string', jsonPath: '.status.interfaces[0].ipAddress' },
    { name: 'NodeName', type: 'string', jsonPath: '.status.nodeName' },
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready') },
    { name: 'Live-Migratable', type: 'string', jsonPath: conditionPath('LiveMigratable'), priority: 1 },
    { name: 'Paused', type: 'string', jsonPath: conditionPath('Paused'), priority: 1 },
  ],
  // No status subresource, as published: clients write spec and status of an instance together.
  // Therefore every write of one is admitted, and a status that a user sends is put back. A virt-handler is believed about its own node alone.
  admission: {
    validate: { exceptUpdatesBy: ['virt-controller'] },
    mutate: { exceptUpdatesBy: ['virt-controller', 'virt-handler'] },
  },
  roles: USUAL_ROLES,
  access: {
    'virt-api': [
      {
        verbs: ['get', 'list', 'create', 'patch', 'delete'],
        because:
          'A stop with another grace period changes that of the instance; configurations are started and stopped by their instances.',
      },
    ],
    'virt-controller': [
      { verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
    'virt-handler': [{ verbs: ['get', 'list', 'watch', 'patch'] }],
  },
  remark: 'no status subresource, as in KubeVirt',
  refused: REFUSED_OF_VMI,
});

/** How it ended, when there is more to say than its phase: the word of whoever wrote it. */
export function endingOf({ status }: Pick<VirtualMachineInstance, 'status'>): VmiEndingReason | undefined {
  return status?.reason as VmiEndingReason | undefined; // only virt-handler and virt-controller write a status
}

/** The guest has ended for good; the object only tells how. */
export function isFinal(vmi: VirtualMachineInstance): boolean {
  return vmi.status?.phase === 'Succeeded' || vmi.status?.phase === 'Failed';
}

/** How long the guest has to shut down. */
export function gracePeriodSecondsOf(vmi: VirtualMachineInstance): number {
  return vmi.spec.terminationGracePeriodSeconds ?? 30;
}

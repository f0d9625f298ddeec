/** VirtualMachineInstanceMigration: one move of a running instance to another node. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './migration-schema.ts';
import type { VmiStatus } from './virtual-machine-instance.ts';

export type MigrationStatus = Static<typeof statusSchema>;
export type MigrationPhase = NonNullable<MigrationStatus['phase']>;
export type MigrationState = NonNullable<VmiStatus['migrationState']>;
export type VirtualMachineInstanceMigration = KubeObject & {
  readonly kind: 'VirtualMachineInstanceMigration';
  readonly spec: Static<typeof specSchema>;
  readonly status?: MigrationStatus;
};

const BETWEEN_CLUSTERS = 'machines are moved within one cluster';

export const MIGRATIONS = kind<VirtualMachineInstanceMigration>({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstanceMigration',
  plural: 'virtualmachineinstancemigrations',
  shortNames: ['vmim', 'vmims'],
  description: 'One move of a running instance to another node.',
  versions: ['v1', 'v1alpha3'],
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'How far it is' },
    { name: 'VMI', type: 'string', jsonPath: '.spec.vmiName', description: 'The instance that is moved' },
  ],
  subresources: { status: {} },
  admission: { mutate: { exceptUpdatesBy: ['virt-controller'] } },
  // To begin one is the right of a role of its own: it takes of the node that the machine goes to.
  roles: { view: USUAL_ROLES.view, edit: USUAL_ROLES.view, admin: USUAL_ROLES.view },
  access: {
    'virt-api': [{ verbs: ['list', 'create'], because: 'The subresource `migrate` of a machine makes one.' }],
    'virt-controller': [
      { verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'], because: 'Machines leave nodes that are drained.' },
      { part: 'status', verbs: ['patch'] },
    ],
    'virt-handler': [{ verbs: ['get'], because: 'A Pod that a machine is moved to belongs to a migration that is there.' }],
  },
  refused: {
    sendTo: BETWEEN_CLUSTERS,
    receive: BETWEEN_CLUSTERS,
    priority: 'migrations are begun in the order in which they were asked for',
  },
});

/** It is over, whatever came of it. */
export function isMigrationFinal({ status }: Pick<VirtualMachineInstanceMigration, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** A move of this instance is under way: handed to the two nodes, and not over. */
export function isMoving(state: MigrationState | undefined): boolean {
  return state !== undefined && !state.completed && !state.failed;
}

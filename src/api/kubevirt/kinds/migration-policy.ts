/** MigrationPolicy: how some machines are moved, chosen by their labels and those of their namespace. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema } from './migration-policy-schema.ts';

export type MigrationPolicy = KubeObject & { readonly kind: 'MigrationPolicy'; readonly spec: Static<typeof specSchema> };

export const MIGRATION_POLICIES = kind<MigrationPolicy>({
  group: 'migrations.kubevirt.io',
  kind: 'MigrationPolicy',
  plural: 'migrationpolicies',
  shortNames: [],
  isNamespaced: false,
  description: 'How machines with certain labels are moved to other nodes.',
  versions: ['v1alpha1'],
  columns: [AGE],
  subresources: { status: {} },
  // How much of the network a move takes is for those to say who have the cluster.
  roles: { view: USUAL_ROLES.view, edit: USUAL_ROLES.view, admin: USUAL_ROLES.view },
  access: { 'virt-controller': [{ verbs: ['get', 'list', 'watch'] }] },
  refused: { experimental: 'none of the experiments is here: no compression, no search for the best downtime, no stall detector' },
});

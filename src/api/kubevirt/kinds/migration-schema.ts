/** The schema of a VirtualMachineInstanceMigration. */
import { list, mapOf, object, oneOf, optional, text, time } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { migrationStateSchema } from '../migration-state-schema.ts';

const MIGRATION_PHASES = [
  'Pending',
  'Scheduling',
  'Scheduled',
  'PreparingTarget',
  'TargetReady',
  'Running',
  'Succeeded',
  'Failed',
] as const;

export const specSchema = object('Which instance is to be moved.', {
  vmiName: optional(text('The instance, in the same namespace.', { minLength: 1 })),
  addedNodeSelector: optional(
    mapOf('Labels that the node it goes to must have beside those that the instance asks for.', text('The value.')),
  ),
});

export const statusSchema = object('How the migration is going. Written by our components alone.', {
  phase: optional(oneOf('How far it is.', MIGRATION_PHASES)),
  phaseTransitionTimestamps: optional(
    list(
      'When each phase was reached.',
      object('One phase.', { phase: oneOf('The phase.', MIGRATION_PHASES), phaseTransitionTimestamp: time('When it was reached.') }),
    ),
  ),
  conditions: optional(conditionsSchema),
  migrationState: optional(migrationStateSchema),
});

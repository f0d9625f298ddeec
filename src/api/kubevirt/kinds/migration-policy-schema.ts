/** The schema of a MigrationPolicy. */
import { mapOf, object, optional, text } from '../../schema/dsl.ts';
import { POLICY_FIELDS } from '../configuration/migration-configuration-schema.ts';

const labels = (what: string) => optional(mapOf(what, text('The value.', { maxLength: 63 })));

export const specSchema = object('Which machines are moved how. What it does not say holds as in the configuration of the installation.', {
  selectors: object('Machines that it is for. Of several policies the one with the most labels holds, and of those the first by name.', {
    namespaceSelector: labels('Labels that the namespace of the machine has, all of them.'),
    virtualMachineInstanceSelector: labels('Labels that the instance has, all of them.'),
  }),
  ...POLICY_FIELDS,
});

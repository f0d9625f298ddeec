/** The schema of a VirtualMachineInstanceConfig. It has no status: nothing of a run is kept in it. */
import { object } from '../../schema/dsl.ts';
import { instanceTemplateSchema } from '../instance-template-schema.ts';

export const specSchema = object('What instances that are started from this configuration are.', {
  template: instanceTemplateSchema,
});

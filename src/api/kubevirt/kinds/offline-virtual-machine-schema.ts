/** The schema of an OfflineVirtualMachine. */
import { boolean, object, optional } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { instanceTemplateSchema } from '../instance-template-schema.ts';

export const specSchema = object('What the machine is and whether it runs.', {
  running: optional(boolean('Whether the machine is to run; false when not given.')),
  template: instanceTemplateSchema,
});

export const statusSchema = object('What is known of the machine. Written by our components alone.', {
  created: optional(boolean('There is a VirtualMachine of this name, made from the template.')),
  ready: optional(boolean('That VirtualMachine is ready.')),
  conditions: optional(conditionsSchema),
});

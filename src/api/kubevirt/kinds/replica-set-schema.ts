/** The schema of a VirtualMachineInstanceReplicaSet. */
import { boolean, integer, object, optional, text } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { instanceTemplateSchema } from '../instance-template-schema.ts';
import { labelSelectorSchema } from '../label-selector-schema.ts';

export const specSchema = object('How many instances there are to be, and of what.', {
  replicas: optional(integer('How many instances there are to be; 1 when not given.', { minimum: 0 })),
  selector: labelSelectorSchema('Which instances belong to the set. It must match the labels of the template.'),
  template: instanceTemplateSchema,
  paused: optional(boolean('While true, instances are neither made nor removed.')),
});

export const statusSchema = object('What is known of the set. Written by our components alone.', {
  replicas: optional(integer('How many instances there are, without those that ended.')),
  readyReplicas: optional(integer('How many of them are ready.')),
  labelSelector: optional(text('The selector as text, for autoscalers.')),
  conditions: optional(conditionsSchema),
});

/** The schema of a VirtualMachine. Apart from its type and questions: loading a schema costs more than most programs take to start. */
import { boolean, integer, list, mapOf, object, oneOf, optional, text, time } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { instanceTemplateSchema } from '../instance-template-schema.ts';

export const RUN_STRATEGIES = ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once'] as const;

export const specSchema = object('What the machine is and when it runs.', {
  running: optional(boolean('True is the run strategy Always, false is Halted. Give this or runStrategy, not both.')),
  runStrategy: optional(oneOf('When an instance is started, and what happens when it ends.', RUN_STRATEGIES)),
  template: instanceTemplateSchema,
});

export const statusSchema = object('What is known of the machine. Written by our components alone.', {
  created: optional(boolean('There is an instance.')),
  virtualMachine: optional(text('The name of the instance, for readers that look for it here.')),
  ready: optional(boolean('The instance is ready.')),
  printableStatus: optional(text('One word for people.', { default: 'Stopped' })),
  runStrategy: optional(oneOf('The strategy that was last acted on.', RUN_STRATEGIES)),
  observedGeneration: optional(integer('The generation that the running instance was made from.', { format: 'int64' })),
  desiredGeneration: optional(integer('The current generation.', { format: 'int64' })),
  conditions: optional(conditionsSchema),
  stateChangeRequests: optional(
    list(
      'Starts and stops that were asked for and have not happened yet; the first is next.',
      object('One request.', {
        action: oneOf('What was asked for.', ['Start', 'Stop']),
        uid: optional(text('The instance that is to stop.')),
        data: optional(mapOf('Details, such as paused.', text('The value.'))),
      }),
    ),
  ),
  startFailure: optional(
    object('Set while instances end before they ever ran.', {
      consecutiveFailCount: optional(integer('How many in a row.')),
      lastFailedVMIUID: optional(text('The last of them.')),
      retryAfterTimestamp: optional(time('The next one is not made before this.')),
    }),
  ),
});

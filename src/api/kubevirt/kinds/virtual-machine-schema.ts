/** The schema of a VirtualMachine. Apart from its type and questions: loading a schema costs more than most programs take to start. */
import { boolean, integer, list, mapOf, object, oneOf, optional, text, time } from '../../schema/dsl.ts';
import { changedBlockTrackingSchema } from '../backup-status-schema.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { instanceTemplateSchema } from '../instance-template-schema.ts';
import { memoryDumpRequestSchema } from '../memory-dump-schema.ts';
import { vmSuspensionSchema } from '../suspension-schema.ts';
import { dataVolumeTemplateSchema } from './data-volume-schema.ts';

export const RUN_STRATEGIES = ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once'] as const;

const matcherSchema = (what: string, kinds: string) =>
  object(`The ${what} of the machine: by its name, or found by a volume.`, {
    name: optional(text(`The name of the ${what}.`)),
    kind: optional(text(`${kinds}; the one of the cluster when not given.`)),
    revisionName: optional(text(`The copy of the ${what} that the machine is made with; one of its own when not given.`)),
    inferFromVolume: optional(text(`The volume whose PVC says by its labels which ${what} goes with it.`)),
    inferFromVolumeFailurePolicy: optional(oneOf('What to do when it does not; Reject when not given.', ['Reject', 'Ignore'])),
  });

const chosenSchema = (what: string) =>
  object(`The ${what} that the machine is made with.`, {
    name: optional(text('Its name.')),
    kind: optional(text('Its kind.')),
    controllerRevisionRef: optional(
      object('The copy of it that was made for this machine, so that it stays the same.', {
        name: optional(text('The ControllerRevision.')),
      }),
    ),
    inferFromVolume: optional(text('The volume that it was found by.')),
    inferFromVolumeFailurePolicy: optional(oneOf('What was to be done otherwise.', ['Reject', 'Ignore'])),
  });

export const specSchema = object('What the machine is and when it runs.', {
  running: optional(boolean('True is the run strategy Always, false is Halted. Give this or runStrategy, not both.')),
  runStrategy: optional(oneOf('When an instance is started, and what happens when it ends.', RUN_STRATEGIES)),
  instancetype: optional(matcherSchema('instance type', 'VirtualMachineInstancetype or VirtualMachineClusterInstancetype')),
  preference: optional(matcherSchema('preference', 'VirtualMachinePreference or VirtualMachineClusterPreference')),
  template: instanceTemplateSchema,
  dataVolumeTemplates: optional(
    list('DataVolumes that are made for the machine and go with it; it starts when they are filled.', dataVolumeTemplateSchema),
  ),
});

export const statusSchema = object('What is known of the machine. Written by our components alone.', {
  created: optional(boolean('There is an instance.')),
  virtualMachine: optional(text('The name of the instance, for readers that look for it here.')),
  ready: optional(boolean('The instance is ready.')),
  printableStatus: optional(text('One word for people.', { default: 'Stopped' })),
  runStrategy: optional(oneOf('The strategy that was last acted on.', RUN_STRATEGIES)),
  observedGeneration: optional(integer('The generation that the running instance was made from.', { format: 'int64' })),
  desiredGeneration: optional(integer('The current generation.', { format: 'int64' })),
  instancetypeRef: optional(chosenSchema('instance type')),
  preferenceRef: optional(chosenSchema('preference')),
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
  snapshotInProgress: optional(text('The VirtualMachineSnapshot that is being taken of it.')),
  restoreInProgress: optional(text('The VirtualMachineRestore that is changing it; it is not started meanwhile.')),
  suspension: optional(vmSuspensionSchema),
  memoryDumpRequest: optional(memoryDumpRequestSchema),
  changedBlockTracking: optional(changedBlockTrackingSchema),
  startFailure: optional(
    object('Set while instances end before they ever ran.', {
      consecutiveFailCount: optional(integer('How many in a row.')),
      lastFailedVMIUID: optional(text('The last of them.')),
      retryAfterTimestamp: optional(time('The next one is not made before this.')),
    }),
  ),
});

/** The schema of a VirtualMachinePool. */
import type { ObjectMeta } from '../../meta.ts';
import { boolean, foreign, integer, object, oneOf, optional, quantity, text, typedAs } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { labelSelectorSchema } from '../label-selector-schema.ts';
import { specSchema as vmSpecSchema } from './virtual-machine-schema.ts';

type NodeRequirement = {
  readonly key: string;
  readonly operator: 'DoesNotExist' | 'Exists' | 'Gt' | 'In' | 'Lt' | 'NotIn';
  readonly values?: string[];
};

const selectionPolicySchema = object('Which machines come first.', {
  selectors: optional(
    object('Machines that fit come before all others; with both, both must fit.', {
      labelSelector: optional(labelSelectorSchema('By labels of the machine.')),
      nodeSelectorRequirementMatcher: optional(foreign<NodeRequirement[]>('By labels of the node that it runs on.', 'array')),
    }),
  ),
  sortPolicy: optional(
    oneOf('The order among equals; Random when not given.', ['AscendingOrder', 'DescendingOrder', 'Newest', 'Oldest', 'Random']),
  ),
});
const statePreservationSchema = oneOf('What becomes of disks. PVCs belong to their authors and stay in any case.', [
  'Disabled',
  'Offline',
  'Online',
]);

export const specSchema = object('How many machines there are to be, and of what.', {
  replicas: optional(integer('How many machines there are to be; 1 when not given.', { minimum: 0 })),
  selector: labelSelectorSchema('Which machines belong to the pool. It must match the labels of the template, and never changes.'),
  virtualMachineTemplate: object('What machines are made from.', {
    metadata: optional(foreign<Partial<Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>>>('Labels and annotations of the machines.')),
    spec: optional(vmSpecSchema),
  }),
  paused: optional(boolean('While true, machines are neither made, changed nor removed.')),
  nameGeneration: optional(
    object('What gets the number of the machine appended, beside its name.', {
      appendIndexToConfigMapRefs: optional(boolean('ConfigMaps that are volumes.')),
      appendIndexToSecretRefs: optional(boolean('Secrets that are volumes.')),
    }),
  ),
  maxUnavailable: optional(
    typedAs<string | number>({
      ...quantity('How many machines may be away at a time while the pool is updated, or which part of them; 100% when not given.'),
      pattern: '^[0-9]+%?$',
    }),
  ),
  scaleInStrategy: optional(
    object('What happens when there are too many; proactive when not given. At most one.', {
      proactive: optional(
        object('They are deleted.', {
          selectionPolicy: optional(selectionPolicySchema),
          statePreservation: optional(statePreservationSchema),
        }),
      ),
      opportunistic: optional(object('They stay until somebody deletes them.', { statePreservation: optional(statePreservationSchema) })),
      unmanaged: optional(object('They stay until somebody deletes them.', {})),
    }),
  ),
  updateStrategy: optional(
    object('What happens when the template changes; proactive when not given. At most one.', {
      proactive: optional(object('Machines are changed and restarted.', { selectionPolicy: optional(selectionPolicySchema) })),
      opportunistic: optional(object('Machines are changed; a guest notices at its next start.', {})),
      unmanaged: optional(object('Machines stay as they are.', {})),
    }),
  ),
  autohealing: optional(
    object('Machines that do not come up are replaced.', {
      startUpFailureThreshold: optional(
        integer('After so many starts that failed in a row; 3 when not given.', { minimum: 1, format: 'int64' }),
      ),
      minFailingToStartDuration: optional(text('And not before this long, such as 5m, which it is when not given.')),
    }),
  ),
});

export const statusSchema = object('What is known of the pool. Written by our components alone.', {
  replicas: optional(integer('How many machines there are, without those that are going.')),
  readyReplicas: optional(integer('How many of them are ready.')),
  labelSelector: optional(text('The selector as text, for autoscalers.')),
  conditions: optional(conditionsSchema),
});

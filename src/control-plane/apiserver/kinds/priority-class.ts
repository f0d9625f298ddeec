/** PriorityClasses: which there may be, those that every cluster has, and what they make of a new Pod. */
import type { Pod } from '../../../api/core/pod.ts';
import { type PreemptionPolicy, type PriorityClass, SYSTEM_PRIORITIES } from '../../../api/core/priority-class.ts';
import { INSTALL_NAMESPACE } from '../../../api/kubevirt/names.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { forbiddenCause, invalidCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { Store } from '../../store/store.ts';
import { isMaster } from '../access/authorize.ts';
import { forbidden } from '../response/api-errors.ts';
import type { AdmissionAttributes } from '../server-parts.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';
import { immutableFields } from './immutable-fields.ts';

const PREFIX = 'scheduling.k8s.io/priorityclasses//';
const MAX_VALUE = 1_000_000_000;
const OWN_NAMESPACES: readonly string[] = ['kube-system', INSTALL_NAMESPACE];
const POLICIES: readonly PreemptionPolicy[] = ['PreemptLowerPriority', 'Never'];
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'system-cluster-critical': 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  'system-node-critical': 'Used for system critical pods that must not be moved from their current node.',
};

/** Those that every cluster has. */
export const SYSTEM_PRIORITY_CLASSES: readonly KubeObject[] = Object.entries(SYSTEM_PRIORITIES).map(([name, value]) => ({
  ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name } },
  ...{ value, description: DESCRIPTIONS[name], preemptionPolicy: 'PreemptLowerPriority' },
}));

export function priorityClassStrategy(store: Store): Strategy {
  const fixed = immutableFields('value', 'preemptionPolicy');
  return {
    prepareCreate: (object) => ({ preemptionPolicy: 'PreemptLowerPriority', ...object }),
    validate: (object, old, subresource) => {
      const given = object as unknown as PriorityClass; // the schema has checked its shape
      return [...(old ? [] : classCauses(given)), ...defaultCauses(store, given), ...(fixed.validate?.(object, old, subresource) ?? [])];
    },
  };
}

function classCauses({ metadata: { name }, value, preemptionPolicy = 'PreemptLowerPriority' }: PriorityClass): StatusCause[] {
  const isSystem = name.startsWith('system-');
  return [
    ...(isSystem && SYSTEM_PRIORITIES[name] !== value
      ? [forbiddenCause('metadata.name', "priority class names with 'system-' prefix are reserved for system use only")]
      : []),
    ...(!isSystem && value > MAX_VALUE
      ? [forbiddenCause('value', `maximum allowed value of a user defined priority is ${MAX_VALUE}`)]
      : []),
    ...(Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? [] : [invalidCause('value', value, 'must be a whole number of 32 bits')]),
    ...(POLICIES.includes(preemptionPolicy) ? [] : [unsupportedCause('preemptionPolicy', preemptionPolicy, POLICIES)]),
  ];
}

function defaultCauses(store: Store, { metadata: { name }, globalDefault }: PriorityClass): StatusCause[] {
  const other = globalDefault ? classesOf(store).find((each) => each.globalDefault && each.metadata.name !== name) : undefined;
  if (!other) return [];
  const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
  return [forbiddenCause('globalDefault', why)];
}

/** The Pod with the priority of its class; throws Forbidden when there is no such class, or the Pod says something else. */
export function withPriority(store: Store, request: AdmissionAttributes & { readonly object: AnyObject }): AnyObject {
  const { type, operation, subresource, object } = request;
  if (type.group !== '' || type.plural !== 'pods' || operation !== 'CREATE' || subresource !== undefined) return object;
  const { spec } = object as unknown as Pod; // only Pods come further
  const refuse = (why: string) => forbidden(type, request.name, why);
  const found = classFor(store, spec.priorityClassName);
  if (spec.priorityClassName && !found) throw refuse(`no PriorityClass with name ${spec.priorityClassName} was found`);
  if (found && isReserved(found, request))
    throw refuse(`pods with ${found.metadata.name} priorityClass is not permitted in ${request.namespace} namespace`);
  const priority = found?.value ?? 0;
  const preemptionPolicy = found?.preemptionPolicy ?? 'PreemptLowerPriority';
  const computed = 'must not be provided in pod spec; priority admission controller computed';
  if (spec.priority !== undefined && spec.priority !== priority)
    throw refuse(`the integer value of priority (${spec.priority}) ${computed} ${priority} from the given PriorityClass name`);
  if (found && spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy)
    throw refuse(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) ${computed} ${preemptionPolicy} from the given PriorityClass name`,
    );
  const className = found && { priorityClassName: found.metadata.name };
  return {
    ...object,
    spec: { ...spec, ...className, priority, preemptionPolicy: found ? preemptionPolicy : (spec.preemptionPolicy ?? preemptionPolicy) },
  };
}

/** What the cluster itself runs in front of everybody: whoever may make a Pod or a machine would end those of all others. */
function isReserved({ metadata: { name } }: PriorityClass, { identity, namespace = '' }: AdmissionAttributes): boolean {
  return Object.hasOwn(SYSTEM_PRIORITIES, name) && !isMaster(identity) && !OWN_NAMESPACES.includes(namespace);
}

/** The class of this name; without a name the default one, if there is one. */
function classFor(store: Store, name: string | undefined): PriorityClass | undefined {
  if (name) return store.get(`${PREFIX}${name}`)?.value as PriorityClass | undefined; // as stored
  return classesOf(store)
    .filter(({ globalDefault }) => globalDefault)
    .reduce<PriorityClass | undefined>((least, each) => (least && least.value <= each.value ? least : each), undefined);
}

function classesOf(store: Store): PriorityClass[] {
  return store.list(PREFIX).map(({ value }) => value as unknown as PriorityClass); // as stored
}

/** VirtualMachine, and every other kind that keeps a template: what must be true of it beyond its schema. */
import { type ClusterConfiguration, DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { forbiddenCause, invalidCause, requiredCause, tooManyCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { matchesLabels, requirementsOf, selectorSize } from '../../base/selectors.ts';
import { dataVolumeTemplateCauses } from './validate-data-volume.ts';
import { labelCauses, reservedLabelCauses } from './validate-labels.ts';
import { validateVmiSpec } from './validate-vmi-spec/validate-vmi-spec.ts';

/** Of a selector, which is held against each machine of a namespace again and again: labels, expressions and values. */
export const MOST_IN_SELECTOR = 1_000;

/** Every reason to refuse a VirtualMachine. */
export function validateVm(vm: JsonObject, configuration: ClusterConfiguration = DEFAULT_CONFIGURATION): StatusCause[] {
  const { running, runStrategy } = specOf(vm);
  const causes = [...validateTemplate(vm, configuration), ...dataVolumeTemplateCauses(vm)];
  if (running !== undefined && runStrategy !== undefined)
    causes.unshift(forbiddenCause('spec.running', 'running and runStrategy exclude each other; runStrategy is the newer one'));
  if (running === undefined && runStrategy === undefined)
    causes.unshift(requiredCause('spec.runStrategy', 'say when the machine is to run: Always, Halted, Manual, RerunOnFailure or Once'));
  return causes;
}

/** Every reason to refuse an OfflineVirtualMachine or a VirtualMachineInstanceConfig: they are their template. */
export function validateTemplate(object: JsonObject, configuration: ClusterConfiguration = DEFAULT_CONFIGURATION): StatusCause[] {
  const { template } = specOf(object);
  if (!isObject(template) || !isObject(template['spec'])) return [requiredCause('spec.template', 'what instances are made from')];
  const { labels, annotations } = isObject(template['metadata']) ? template['metadata'] : {};
  return [
    ...labelCauses(labels, 'spec.template.metadata.labels'),
    ...reservedLabelCauses(labels, undefined, 'spec.template.metadata.labels'),
    ...annotationCauses(annotations, 'spec.template.metadata.annotations'),
    ...validateVmiSpec(template['spec'], 'spec.template.spec', configuration),
  ];
}

/** Every reason to refuse a VirtualMachineInstanceReplicaSet. */
export function validateReplicaSet(set: JsonObject, configuration: ClusterConfiguration = DEFAULT_CONFIGURATION): StatusCause[] {
  const { selector, template, replicas } = specOf(set);
  const causes = validateTemplate(set, configuration);
  if (typeof replicas === 'number' && replicas < 0)
    causes.push(invalidCause('spec.replicas', replicas, 'must be greater than or equal to 0'));
  if (!isObject(selector)) return [...causes, requiredCause('spec.selector', 'which instances belong to the set')];
  const size = selectorSize(selector);
  if (size > MOST_IN_SELECTOR) return [...causes, tooManyCause('spec.selector', size, MOST_IN_SELECTOR)];
  const requirements = requirementsOf(selector);
  const metadata = isObject(template) && isObject(template['metadata']) ? template['metadata'] : {};
  const labels = isObject(metadata['labels']) ? (metadata['labels'] as Record<string, string>) : {}; // checked above
  if (requirements.length === 0)
    causes.push(invalidCause('spec.selector', selector, 'an empty selector would take every instance of the namespace'));
  else if (!matchesLabels(requirements, labels))
    causes.push(invalidCause('spec.template.metadata.labels', labels, 'the selector does not match the labels of the template'));
  return causes;
}

function annotationCauses(annotations: unknown, path: string): StatusCause[] {
  if (annotations === undefined || annotations === null) return [];
  if (!isObject(annotations)) return [invalidCause(path, annotations, 'must be a map of texts')];
  return Object.entries(annotations)
    .filter(([, value]) => typeof value !== 'string')
    .map(([key, value]) => invalidCause(`${path}[${key}]`, value, 'must be a text'));
}

function specOf({ spec }: JsonObject): JsonObject {
  return isObject(spec) ? spec : {};
}

/** VirtualMachinePool: what must be true of it beyond its schema. */
import { type ClusterConfiguration, DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { forbiddenCause, invalidCause, requiredCause, tooManyCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { deepEqual, isObject, type JsonObject } from '../../base/json.ts';
import { matchesLabels, requirementsOf, selectorSize } from '../../base/selectors.ts';
import type { AdmissionRequest, ReviewedObject } from './admission-request.ts';
import { MOST_IN_SELECTOR, validateVm } from './validate-vm.ts';

/** The machine that the template of a pool describes; undefined when it describes none. */
export function machineOf(pool: ReviewedObject): ReviewedObject | undefined {
  const template = templateOf(pool);
  const { namespace } = pool.metadata;
  if (!isObject(template['spec'])) return undefined;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: pool.metadata.name, namespace },
    spec: template['spec'],
  };
}

/** A cause of the machine, as one of the pool. */
export function inPoolTemplate({ field, message, reason }: StatusCause): StatusCause {
  const at = 'spec.virtualMachineTemplate.';
  return { reason, message: message.replace(`VM field ${field}`, `VM field ${at}${field}`), field: `${at}${field}` };
}

/** Every reason to refuse a pool. */
export function validatePool(pool: JsonObject, configuration: ClusterConfiguration = DEFAULT_CONFIGURATION): StatusCause[] {
  const spec = isObject(pool['spec']) ? pool['spec'] : {};
  const template = templateOf(pool);
  if (!isObject(template['spec'])) return [requiredCause('spec.virtualMachineTemplate.spec', 'what machines are made from')];
  return [
    ...validateVm({ spec: template['spec'] }, configuration).map(inPoolTemplate),
    ...sharedVolumeCauses(template['spec']),
    ...selectorCauses(spec, template),
    ...unavailableCauses(spec['maxUnavailable']),
    ...['scaleInStrategy', 'updateStrategy'].flatMap((field) => {
      const said = isObject(spec[field]) ? Object.keys(spec[field]) : [];
      return said.length > 1 ? [forbiddenCause(`spec.${field}`, `at most one of ${said.join(', ')} may be set`)] : [];
    }),
  ];
}

/** All machines of the pool would write to the one DataVolume of the name. */
function sharedVolumeCauses({ dataVolumeTemplates: templates }: JsonObject): StatusCause[] {
  const at = 'spec.virtualMachineTemplate.spec.dataVolumeTemplates';
  return Array.isArray(templates) && templates.length > 0
    ? [forbiddenCause(at, 'the machines of a pool have no DataVolumes of their own yet')]
    : [];
}

/** Machines that a pool has would be nobody's. */
export function validatePoolChange({ object, oldObject }: Pick<AdmissionRequest, 'object' | 'oldObject'>): StatusCause[] {
  const [next, before] = [object?.['spec'], oldObject?.['spec']];
  if (!isObject(next) || !isObject(before) || deepEqual(next['selector'], before['selector'])) return [];
  return [invalidCause('spec.selector', next['selector'], 'selector is immutable after creation')];
}

function selectorCauses({ selector }: JsonObject, template: JsonObject): StatusCause[] {
  if (!isObject(selector)) return [requiredCause('spec.selector', 'which machines belong to the pool')];
  const size = selectorSize(selector);
  if (size > MOST_IN_SELECTOR) return [tooManyCause('spec.selector', size, MOST_IN_SELECTOR)];
  const requirements = requirementsOf(selector);
  const metadata = isObject(template['metadata']) ? template['metadata'] : {};
  const labels = isObject(metadata['labels']) ? (metadata['labels'] as Record<string, string>) : {}; // compared as they are
  if (requirements.length === 0)
    return [invalidCause('spec.selector', selector, 'an empty selector would take every machine of the namespace')];
  if (matchesLabels(requirements, labels)) return [];
  return [invalidCause('spec.virtualMachineTemplate.metadata.labels', labels, 'the selector does not match the labels of the template')];
}

function unavailableCauses(said: unknown): StatusCause[] {
  if (said === undefined || said === null) return [];
  const number = Number.parseInt(String(said), 10);
  const isGood = String(said).endsWith('%') ? number >= 1 && number <= 100 : number > 0;
  return isGood ? [] : [invalidCause('spec.maxUnavailable', said, 'must be from 1% to 100%, or a number greater than 0')];
}

function templateOf({ spec }: JsonObject): JsonObject {
  const template = isObject(spec) ? spec['virtualMachineTemplate'] : undefined;
  return isObject(template) ? template : {};
}

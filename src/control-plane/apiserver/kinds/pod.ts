/** Pods: what the server fills in and keeps fixed, and the time they get to end. */
import type { Container, Pod, ResourceRequirements, Toleration } from '../../../api/core/pod.ts';
import { forbiddenCause, requiredCause, tooLongCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual } from '../../../base/json.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';
import { ephemeralCauses } from './ephemeral-containers.ts';

const DEFAULT_GRACE_SECONDS = 30;
/** How long a Pod stays on a node that stopped answering. */
const UNREACHABLE_SECONDS = 300;
/** More than a hundred rules. */
const MAX_RULES_BYTES = 8_192;
const NODE_TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

export const podStrategy: Strategy = {
  prepareCreate(object) {
    const pod = asPod(object);
    const { serviceAccountName = 'default' } = pod.spec;
    const spec = {
      ...pod.spec,
      serviceAccountName,
      serviceAccount: serviceAccountName,
      tolerations: withNodeTolerations(pod.spec.tolerations),
    };
    return { ...object, spec, status: { phase: 'Pending', qosClass: qosClass(pod) } };
  },
  validate: (object, old, subresource) => [
    ...(asPod(object).spec.containers.length === 0 ? [requiredCause('spec.containers')] : []),
    ...(old && subresource !== 'ephemeralcontainers' ? validateFixedSpec(asPod(object), asPod(old), subresource === 'binding') : []),
    ...(old && subresource === 'ephemeralcontainers' ? ephemeralCauses(asPod(object), asPod(old)) : []),
    ...(old ? [] : placingCauses(asPod(object))),
    ...(!old && asPod(object).spec.ephemeralContainers?.length
      ? [forbiddenCause('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
  ],
  gracePeriodSeconds(object, requested) {
    const { spec, status } = asPod(object);
    if (!spec.nodeName || status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
    const grace = requested ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    return grace < 0 ? 1 : grace;
  },
};

/** The scheduler holds each of these rules against each Pod that there is, while everybody waits. */
function placingCauses({ spec }: Pod): StatusCause[] {
  return (['affinity', 'topologySpreadConstraints'] as const)
    .filter((field) => spec[field] !== undefined && JSON.stringify(spec[field]).length > MAX_RULES_BYTES)
    .map((field) => tooLongCause(`spec.${field}`, MAX_RULES_BYTES));
}

/** Only Pods come here, and their shape was checked by the schema, which does not ask for a spec: the rule for containers does. */
function asPod(object: AnyObject): Pod {
  const pod = object as unknown as Pod;
  return pod.spec?.containers ? pod : { ...pod, spec: { ...pod.spec, containers: [] } };
}

function withNodeTolerations(tolerations: readonly Toleration[] = []): Toleration[] {
  const missing = NODE_TAINTS.filter(
    (taint) => !tolerations.some(({ key, effect }) => (!key || key === taint) && (!effect || effect === 'NoExecute')),
  );
  const added = missing.map(
    (key): Toleration => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: UNREACHABLE_SECONDS }),
  );
  return [...tolerations, ...added];
}

/** How well a Pod is treated when there is too little for all. */
export function qosClass({ spec }: Pod): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = [...spec.containers, ...(spec.initContainers ?? [])].map(({ resources }) => resources ?? {});
  if (all.every(({ requests = {}, limits = {} }) => Object.keys({ ...requests, ...limits }).length === 0)) return 'BestEffort';
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

function isGuaranteed({ requests = {}, limits = {} }: ResourceRequirements): boolean {
  return ['cpu', 'memory'].every((name) => limits[name] !== undefined && (requests[name] ?? limits[name]) === limits[name]);
}

const FIXED_TEXT =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Nothing but a binding gives a Pod a node. */
function validateFixedSpec(pod: Pod, old: Pod, isBinding: boolean): StatusCause[] {
  const before = isBinding ? { ...old, spec: { ...old.spec, nodeName: pod.spec.nodeName } } : old;
  return deepEqual(fixedPart(pod), fixedPart(before)) ? [] : [forbiddenCause('spec', FIXED_TEXT)];
}

/** A Pod's spec without what may change later. */
function fixedPart({ spec }: Pod): object {
  const withoutImage = (containers: readonly Container[] = []) => containers.map((container) => ({ ...container, image: undefined }));
  return {
    ...spec,
    activeDeadlineSeconds: undefined,
    tolerations: undefined,
    schedulingGates: undefined,
    containers: withoutImage(spec.containers),
    initContainers: withoutImage(spec.initContainers),
  };
}

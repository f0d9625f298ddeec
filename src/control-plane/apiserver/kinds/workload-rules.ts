/** What Kubernetes checks in Deployments, ReplicaSets, DaemonSets and StatefulSets beyond their schemas, in its words. */
import type { Deployment } from '../../../api/core/deployment.ts';
import type { IntOrPercent, WorkloadSpec } from '../../../api/core/pod-template.ts';
import type { StatefulSet } from '../../../api/core/stateful-set.ts';
import { forbiddenCause, invalidCause, requiredCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual } from '../../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';
import { immutableFields } from './immutable-fields.ts';

const NEGATIVE = 'must be greater than or equal to 0';
const CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];
const FIXED_TEXT =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

type Validate = NonNullable<Strategy['validate']>;
type Spec = Partial<WorkloadSpec> & { readonly replicas?: number };

/** Rules one after the other; a status is nobody's wish and is not looked at. */
function validated(...rules: readonly Validate[]): Strategy {
  return {
    validate: (object, old, subresource) => (subresource === 'status' ? [] : rules.flatMap((rule) => rule(object, old, subresource))),
  };
}

const selectorIsFixed = immutableFields('spec.selector').validate ?? (() => []);

export const deploymentStrategy: Strategy = {
  ...validated(selectorIsFixed, (object) => [
    ...selectorCauses(object, 'deployment'),
    ...rolloutCauses(specOf<Deployment['spec']>(object)),
  ]),
  annotationsAreDesired: true,
};
export const replicaSetStrategy: Strategy = validated(selectorIsFixed, (object) => selectorCauses(object, 'replicaset'));
export const daemonSetStrategy: Strategy = validated(selectorIsFixed, (object) => selectorCauses(object, 'daemonset'));
export const statefulSetStrategy: Strategy = validated(
  (object) => selectorCauses(object, 'statefulset'),
  (object, old) => (old && !deepEqual(fixedPart(object), fixedPart(old)) ? [forbiddenCause('spec', FIXED_TEXT)] : []),
);

function specOf<T>(object: AnyObject): Partial<T> {
  return (object['spec'] ?? {}) as Partial<T>; // its shape was checked by the schema
}

function fixedPart(object: AnyObject): object {
  return Object.fromEntries(Object.entries(specOf<StatefulSet['spec']>(object)).filter(([name]) => !CHANGEABLE.includes(name)));
}

/** The selector is there and finds what the template makes; the Pods are restarted for ever. */
function selectorCauses(object: AnyObject, kind: string): StatusCause[] {
  const { selector, template, replicas = 0, minReadySeconds = 0 } = specOf<Spec>(object);
  const labels = template?.metadata?.labels;
  const restartPolicy = template?.spec?.restartPolicy ?? 'Always';
  const requirements = requirementsOf(selector ?? {});
  const causes: StatusCause[] = [];
  if (!selector) causes.push(requiredCause('spec.selector'));
  else if (requirements.length === 0) causes.push(invalidCause('spec.selector', selector, `empty selector is invalid for ${kind}`));
  else if (!matchesLabels(requirements, labels))
    causes.push(invalidCause('spec.template.metadata.labels', labels ?? {}, '`selector` does not match template `labels`'));
  if (replicas < 0) causes.push(invalidCause('spec.replicas', replicas, NEGATIVE));
  if (minReadySeconds < 0) causes.push(invalidCause('spec.minReadySeconds', minReadySeconds, NEGATIVE));
  if (restartPolicy !== 'Always') causes.push(unsupportedCause('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  return causes;
}

function rolloutCauses({ strategy = {}, progressDeadlineSeconds, minReadySeconds = 0 }: Partial<Deployment['spec']>): StatusCause[] {
  const { type, rollingUpdate } = strategy;
  const at = 'spec.strategy.rollingUpdate';
  const causes: StatusCause[] = [];
  if (type === 'Recreate' && rollingUpdate) causes.push(forbiddenCause(at, "may not be specified when strategy `type` is 'Recreate'"));
  if (type === 'RollingUpdate' && rollingUpdate) {
    causes.push(
      ...shareCauses(`${at}.maxUnavailable`, rollingUpdate.maxUnavailable),
      ...shareCauses(`${at}.maxSurge`, rollingUpdate.maxSurge),
    );
    const isZero = (value: IntOrPercent | undefined) => value === 0 || value === '0%';
    if (isZero(rollingUpdate.maxUnavailable) && isZero(rollingUpdate.maxSurge))
      causes.push(invalidCause(`${at}.maxUnavailable`, rollingUpdate.maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  if (progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds)
    causes.push(invalidCause('spec.progressDeadlineSeconds', progressDeadlineSeconds, 'must be greater than minReadySeconds'));
  return causes;
}

/** A whole number, or a share in percent. */
export function shareCauses(field: string, value: IntOrPercent | undefined): StatusCause[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return value < 0 ? [invalidCause(field, value, NEGATIVE)] : [];
  const isPercent = /^\d{1,9}%$/.test(value);
  return isPercent
    ? []
    : [
        invalidCause(
          field,
          value,
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      ];
}

/** What Kubernetes checks in PodDisruptionBudgets beyond their schema, in its words. */
import type { IntOrPercent } from '../../../api/core/pod-template.ts';
import { invalidCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';
import { shareCauses } from './workload-rules.ts';

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

type Spec = { readonly minAvailable?: IntOrPercent; readonly maxUnavailable?: IntOrPercent; readonly unhealthyPodEvictionPolicy?: string };

/** A status is nobody's wish and is not looked at. */
export const podDisruptionBudgetStrategy: Strategy = {
  validate: (object, _old, subresource) => (subresource === 'status' ? [] : budgetCauses(object)),
};

function budgetCauses(object: AnyObject): StatusCause[] {
  const spec = (object['spec'] ?? {}) as Spec; // its shape was checked by the schema
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy } = spec;
  const causes = [...shareOfAllCauses('spec.minAvailable', minAvailable), ...shareOfAllCauses('spec.maxUnavailable', maxUnavailable)];
  if (minAvailable !== undefined && maxUnavailable !== undefined)
    causes.push(invalidCause('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  if (policy !== undefined && !POLICIES.includes(policy))
    causes.push(unsupportedCause('spec.unhealthyPodEvictionPolicy', policy, POLICIES));
  return causes;
}

function shareOfAllCauses(field: string, value: IntOrPercent | undefined): StatusCause[] {
  const causes = shareCauses(field, value);
  const isTooMuch = typeof value === 'string' && causes.length === 0 && Number.parseInt(value, 10) > 100;
  return isTooMuch ? [invalidCause(field, value, 'must not be greater than 100%')] : causes;
}

/**
 * Whether a Pod may be evicted.
 *
 *   when                                             then
 *   it has ended, waits, or is going                 delete it: it serves nobody
 *   no budget is about it                            delete it
 *   more than one is                                 InternalError, as in Kubernetes: which one counts?
 *   it is not ready, AlwaysAllow                     delete it, if it is still as it was
 *   it is not ready, and enough others are           the same
 *   the budget has changed and was not counted yet   TooManyRequests, try again in ten seconds
 *   nothing is left of the budget                    TooManyRequests
 *   something is left                                take one of it, then delete the Pod
 *
 * Pure: no clock, no I/O, no randomness.
 */
import type { Pod } from '../../../api/core/pod.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../api/core/pod-disruption-budget.ts';
import { hasCondition, isDeleting } from '../../../api/meta.ts';
import { ApiError } from '../../../base/errors.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { timestamp } from '../../../base/timestamp.ts';

export type Eviction =
  | { readonly do: 'delete' }
  /** Only this state of it was looked at. */
  | { readonly do: 'delete-unchanged'; readonly resourceVersion: string | undefined }
  | { readonly do: 'take-one'; readonly budget: PodDisruptionBudget };

const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";
const SEVERAL = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
const RETRY_AFTER_SECONDS = 10;
/** More evictions than the controller has seen so far are not granted. */
const MAX_DISRUPTED = 2000;

/** The rules above, for all budgets of the Pod's namespace; whether something is left is `takeOne`'s to say. */
export function decideEviction(pod: Pod, budgets: readonly PodDisruptionBudget[]): Eviction {
  const phase = pod.status?.phase ?? 'Pending';
  if (isDeleting(pod) || phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed') return { do: 'delete' };
  const [budget, another] = budgets.filter(
    ({ spec }) => spec.selector && matchesLabels(requirementsOf(spec.selector), pod.metadata.labels),
  );
  if (!budget) return { do: 'delete' };
  if (another) throw new ApiError('InternalError', SEVERAL);
  if (!hasCondition(pod.status?.conditions, 'Ready') && mayGoUnready(budget)) {
    return { do: 'delete-unchanged', resourceVersion: pod.metadata.resourceVersion };
  }
  return { do: 'take-one', budget };
}

function mayGoUnready({ spec, status = {} }: PodDisruptionBudget): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** The status of a budget that grants the eviction of this Pod; throws when it does not. */
export function takeOne({ metadata, status = {} }: PodDisruptionBudget, podName: string, now: number): PodDisruptionBudgetStatus {
  const { disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0, disruptedPods = {} } = status;
  const { name, generation = 0 } = metadata;
  if ((status.observedGeneration ?? 0) < generation) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`, RETRY_AFTER_SECONDS);
  }
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED) {
    throw new ApiError('Forbidden', `DisruptedPods map of budget ${name} is too big - too many evictions not confirmed by PDB controller`);
  }
  if (disruptionsAllowed <= 0) {
    throw refused(`The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`);
  }
  return { ...status, disruptionsAllowed: disruptionsAllowed - 1, disruptedPods: { ...disruptedPods, [podName]: timestamp(now) } };
}

function refused(message: string, retryAfterSeconds?: number): ApiError {
  const causes = [{ reason: 'DisruptionBudget', message, field: '' }];
  return new ApiError('TooManyRequests', REFUSED, { details: { causes, ...(retryAfterSeconds && { retryAfterSeconds }) } });
}

/**
 * What one PodDisruptionBudget should say, given its Pods.
 *
 *   when                                  then
 *   being deleted                         nothing
 *   minAvailable is a number              that many have to be healthy
 *   minAvailable or maxUnavailable of     that share of what the controllers of the Pods want has to be healthy
 *   what is wanted
 *   a controller wants no number          SyncFailed: nothing may be evicted
 *   more are healthy                      so many may be evicted
 *   an eviction was granted               the Pod is not healthy, until it goes or two minutes are over: look again then
 *
 * Evictions are granted by the API server, which counts disruptionsAllowed down; here it is counted anew. Both write with the version they read,
 * so that none is lost.
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { isDeleting, refOf } from '../../../api/meta.ts';
import { diffAsMergePatch } from '../../../base/json.ts';
import { type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import type { ObservedBudget } from './observed.ts';
import { deriveBudgetStatus, nextLapseMs } from './status.ts';

/** The rules above, for one budget. */
export function decideBudget(observed: ObservedBudget): Decision {
  const { budget, now } = observed;
  if (isDeleting(budget)) return nothingToDo;
  const status = deriveBudgetStatus(observed);
  const lookAgainAfterMs = nextLapseMs(status, now);
  const again = lookAgainAfterMs !== undefined && { lookAgainAfterMs };
  const patch = diffAsMergePatch(budget.status ?? {}, status);
  if (patch === undefined) return { ...nothingToDo, ...again };
  const because = `${status.currentHealthy} of ${status.expectedPods} Pods are healthy, ${status.desiredHealthy} have to be`;
  const { resourceVersion } = budget.metadata;
  return {
    actions: [{ do: 'patch', target: refOf(budget), subresource: 'status', patch: { status: patch }, resourceVersion, because }],
    ...again,
  };
}

/** What `decide` and `status` look at: one budget, its Pods, and how many of them there should be. */
import type { Pod } from '../../../api/core/pod.ts';
import type { PodDisruptionBudget } from '../../../api/core/pod-disruption-budget.ts';

/** Whoever says how many Pods there should be. */
export type Scale = { readonly uid: string; readonly replicas: number };

export type ObservedBudget = {
  readonly budget: PodDisruptionBudget;
  /** All that the selector finds. */
  readonly pods: readonly Pod[];
  /** By the uid of the Pod's controller; without those that have no number of Pods. */
  readonly scales: ReadonlyMap<string, Scale>;
  readonly now: number;
};

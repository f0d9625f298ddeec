/** PodDisruptionBudget: how many of some Pods may be evicted at a time. */
import type { LabelSelector } from '../../base/selectors.ts';
import type { Condition, KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { IntOrPercent } from './pod-template.ts';

export type PodDisruptionBudgetStatus = {
  readonly observedGeneration?: number;
  /** How many may be evicted now; an eviction takes one, the controller counts again. */
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  /** Pods whose eviction was granted and is not seen yet, and when. */
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
};
export type PodDisruptionBudget = KubeObject & {
  readonly kind: 'PodDisruptionBudget';
  readonly spec: {
    /** An empty one finds all Pods of the namespace, none at all finds none. */
    readonly selector?: LabelSelector;
    readonly minAvailable?: IntOrPercent;
    readonly maxUnavailable?: IntOrPercent;
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
  };
  readonly status?: PodDisruptionBudgetStatus;
};

/** The reasons of each condition. */
export type PodDisruptionBudgetConditions = {
  readonly DisruptionAllowed: 'SufficientPods' | 'InsufficientPods' | 'SyncFailed';
};

export const POD_DISRUPTION_BUDGETS: Resource<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  isNamespaced: true,
};

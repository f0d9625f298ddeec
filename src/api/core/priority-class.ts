/** PriorityClass: a name for how important Pods are. */
import type { KubeObject } from '../meta.ts';

export type PreemptionPolicy = 'PreemptLowerPriority' | 'Never';
export type PriorityClass = KubeObject & {
  readonly kind: 'PriorityClass';
  readonly value: number;
  /** For Pods that name no class. */
  readonly globalDefault?: boolean;
  readonly description?: string;
  readonly preemptionPolicy?: PreemptionPolicy;
};

/** Names and values that nobody else may use. */
export const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Everything that matters to one autoscaler at a moment. */
import type { HorizontalPodAutoscaler } from '../../../api/core/horizontal-pod-autoscaler.ts';
import type { Pod } from '../../../api/core/pod.ts';

/** What the scale subresource of its target says. */
export type Scale = { readonly path: string; readonly specReplicas: number; readonly statusReplicas: number; readonly selector: string };

/** What one Pod uses, by container: cores and bytes. */
export type PodUsage = {
  readonly takenAtMs: number;
  readonly windowMs: number;
  readonly containers: ReadonlyMap<string, Readonly<Record<string, number>>>;
};

export type Past = {
  /** What was recommended before, and when by a steady clock. */
  readonly recommendations: readonly { readonly replicas: number; readonly atMs: number }[];
  /** By how many the target was scaled, up or down, and when. */
  readonly changes: readonly { readonly by: number; readonly atMs: number }[];
};

export type ObservedAutoscaler = {
  readonly autoscaler: HorizontalPodAutoscaler;
  /** Or why it cannot be had. */
  readonly scale: Scale | { readonly error: string };
  /** Those that the selector of the target finds. */
  readonly pods: readonly Pod[];
  /** By the name of the Pod; or why nobody knows. */
  readonly usages: ReadonlyMap<string, PodUsage> | { readonly error: string };
  readonly past: Past;
  readonly now: number;
  readonly steadyMs: number;
};

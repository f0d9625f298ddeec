/** The template that workloads make their Pods from, and what all workloads say of time. */
import type { LabelSelector } from '../../base/selectors.ts';
import type { ObjectMeta } from '../meta.ts';
import type { PodSpec } from './pod.ts';

export type PodTemplate = { readonly metadata?: Partial<ObjectMeta>; readonly spec: PodSpec };

/** A number, or a share of another in percent. */
export type IntOrPercent = number | string;

/** What Deployments, DaemonSets, ReplicaSets and StatefulSets have in common. */
export type WorkloadSpec = {
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
};

/** DaemonSet: a Pod on every node that takes it. */
import type { Condition, KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { IntOrPercent, WorkloadSpec } from './pod-template.ts';

export type DaemonSetStatus = {
  readonly currentNumberScheduled?: number;
  readonly desiredNumberScheduled?: number;
  readonly numberMisscheduled?: number;
  readonly numberReady?: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly updatedNumberScheduled?: number;
  readonly observedGeneration?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
};
export type DaemonSet = KubeObject & {
  readonly kind: 'DaemonSet';
  readonly spec: WorkloadSpec & {
    readonly updateStrategy?: {
      readonly type?: 'RollingUpdate' | 'OnDelete';
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrPercent; readonly maxSurge?: IntOrPercent };
    };
  };
  readonly status?: DaemonSetStatus;
};

export const DAEMON_SETS: Resource<DaemonSet> = {
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  isNamespaced: true,
};

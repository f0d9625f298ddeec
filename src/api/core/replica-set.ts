/** ReplicaSet: a number of Pods that are alike. */
import type { Condition, KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { WorkloadSpec } from './pod-template.ts';

export type ReplicaSetStatus = {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
};
export type ReplicaSet = KubeObject & {
  readonly kind: 'ReplicaSet';
  readonly spec: Omit<WorkloadSpec, 'revisionHistoryLimit'> & { readonly replicas?: number };
  readonly status?: ReplicaSetStatus;
};

export const REPLICA_SETS: Resource<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  isNamespaced: true,
};

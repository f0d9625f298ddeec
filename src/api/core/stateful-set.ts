/** StatefulSet: Pods with a number, an order and volumes of their own. */
import type { Condition, KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { IntOrPercent, WorkloadSpec } from './pod-template.ts';
import type { PersistentVolumeClaim } from './volume.ts';

export type StatefulSetStatus = {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
};
type ClaimPolicy = 'Retain' | 'Delete';
export type StatefulSet = KubeObject & {
  readonly kind: 'StatefulSet';
  readonly spec: WorkloadSpec & {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
    readonly ordinals?: { readonly start?: number };
    readonly volumeClaimTemplates?: readonly Pick<PersistentVolumeClaim, 'metadata' | 'spec'>[];
    readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: ClaimPolicy; readonly whenScaled?: ClaimPolicy };
    readonly updateStrategy?: {
      readonly type?: 'RollingUpdate' | 'OnDelete';
      readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrPercent };
    };
  };
  readonly status?: StatefulSetStatus;
};

export const STATEFUL_SETS: Resource<StatefulSet> = {
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  isNamespaced: true,
};

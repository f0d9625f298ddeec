/** Deployment: Pods that are replaced step by step when their template changes. */
import type { Condition, KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { IntOrPercent, WorkloadSpec } from './pod-template.ts';

export type DeploymentCondition = Condition & { readonly lastUpdateTime?: string };
export type DeploymentStatus = {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DeploymentCondition[];
};
export type Deployment = KubeObject & {
  readonly kind: 'Deployment';
  readonly spec: WorkloadSpec & {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly progressDeadlineSeconds?: number;
    readonly strategy?: {
      readonly type?: 'RollingUpdate' | 'Recreate';
      readonly rollingUpdate?: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent };
    };
  };
  readonly status?: DeploymentStatus;
};

export const DEPLOYMENTS: Resource<Deployment> = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  isNamespaced: true,
};

/** The number of a rollout, on a Deployment and on the ReplicaSet of it: `kubectl rollout history` shows it. */
export const ANNOTATION_REVISION = 'deployment.kubernetes.io/revision';
/** Earlier numbers of a ReplicaSet that was rolled back to. */
export const ANNOTATION_REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
/** What the Deployment wanted when the ReplicaSet was scaled last: by it a change of the number is told from a step of a rollout. */
export const ANNOTATION_DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
/** That, and the surge. */
export const ANNOTATION_MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
/** Tells the Pods of one template from those of another. */
export const LABEL_POD_TEMPLATE_HASH = 'pod-template-hash';

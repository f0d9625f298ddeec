/** HorizontalPodAutoscaler: how many replicas something has, by what its Pods use. */
import type { Condition, KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type MetricTarget = {
  readonly type: string;
  readonly averageUtilization?: number;
  readonly averageValue?: string;
  readonly value?: string;
};
type ResourceMetric = { readonly name: string; readonly target: MetricTarget };
export type MetricSpec = {
  readonly type: string;
  readonly resource?: ResourceMetric;
  readonly containerResource?: ResourceMetric & { readonly container: string };
};
export type ScalingPolicy = { readonly type: 'Pods' | 'Percent'; readonly value: number; readonly periodSeconds: number };
export type ScalingRules = {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: 'Max' | 'Min' | 'Disabled';
  readonly policies?: readonly ScalingPolicy[];
  readonly tolerance?: string;
};
export type MetricValue = { readonly averageUtilization?: number; readonly averageValue?: string };
export type MetricStatus = {
  readonly type: string;
  readonly resource?: { readonly name: string; readonly current: MetricValue };
  readonly containerResource?: { readonly name: string; readonly container: string; readonly current: MetricValue };
};
export type HorizontalPodAutoscalerStatus = {
  readonly observedGeneration?: number;
  readonly lastScaleTime?: string;
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly currentMetrics?: readonly MetricStatus[];
  readonly conditions?: readonly Condition[];
};
export type HorizontalPodAutoscaler = KubeObject & {
  readonly kind: 'HorizontalPodAutoscaler';
  readonly spec: {
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics?: readonly MetricSpec[];
    readonly behavior?: { readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules };
  };
  readonly status?: HorizontalPodAutoscalerStatus;
};

/** The reasons of each condition. */
export type HorizontalPodAutoscalerConditions = {
  readonly AbleToScale:
    | 'FailedGetScale'
    | 'ReadyForNewScale'
    | 'ScaleDownStabilized'
    | 'ScaleUpStabilized'
    | 'SucceededGetScale'
    | 'SucceededRescale';
  readonly ScalingActive: 'FailedGetResourceMetric' | 'InvalidMetricSourceType' | 'ScalingDisabled' | 'ValidMetricFound';
  readonly ScalingLimited: 'DesiredWithinRange' | 'ScaleDownLimit' | 'ScaleUpLimit' | 'TooFewReplicas' | 'TooManyReplicas';
};

export const HORIZONTAL_POD_AUTOSCALERS: Resource<HorizontalPodAutoscaler> = {
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  isNamespaced: true,
};

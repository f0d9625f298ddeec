/**
 * What one HorizontalPodAutoscaler should do, given the scale of its target and what its Pods use.
 *
 *   when                                      then
 *   being deleted                             nothing
 *   the target has no scale                   AbleToScale is False: FailedGetScale
 *   the target is scaled to 0, and may        ScalingActive is False: whoever scaled it to 0 means it
 *   not be by minReplicas
 *   more than maxReplicas, less than min      that many
 *   no metric says anything                   ScalingActive is False, with the reason; the number stays
 *   a metric is missing, others want fewer    the same: the missing one might want more
 *   else                                      what the metric says that wants most, as fast as the behavior lets it
 *
 * It looks again every 15 seconds. Pure: no clock, no I/O, no randomness.
 */
import {
  HORIZONTAL_POD_AUTOSCALERS,
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerConditions,
  type HorizontalPodAutoscalerStatus,
  type MetricSpec,
  type MetricStatus,
} from '../../../api/core/horizontal-pod-autoscaler.ts';
import { type NewCondition, withCondition } from '../../../api/kubevirt/conditions.ts';
import { type Condition, isDeleting, refOf } from '../../../api/meta.ts';
import { diffAsMergePatch } from '../../../base/json.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { type Action, type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import { paced, tolerancesOf } from './behavior.ts';
import type { ObservedAutoscaler, Scale } from './observed.ts';
import { replicasByMetric } from './replicas-by-metric.ts';

/** Writes the number of replicas of the target. */
export type ScaleAction = {
  readonly do: 'scale';
  readonly path: string;
  readonly replicas: number;
  readonly by: number;
  readonly because: string;
  readonly event: NonNullable<Action['event']>;
};
type Said = NewCondition<HorizontalPodAutoscalerConditions>;
type Outcome = {
  readonly replicas: number;
  readonly because?: string;
  readonly metrics?: readonly MetricStatus[];
  readonly says: readonly Said[];
  readonly warning?: string;
};

const AGAIN_MS = 15_000;

/** The rules above, for one autoscaler. */
export function decideAutoscaler(observed: ObservedAutoscaler): Decision<ScaleAction> {
  const { autoscaler, scale } = observed;
  if (isDeleting(autoscaler)) return nothingToDo;
  const able: Said =
    'error' in scale
      ? {
          type: 'AbleToScale',
          status: 'False',
          reason: 'FailedGetScale',
          message: `the HPA controller was unable to get the target's current scale: ${scale.error}`,
        }
      : {
          type: 'AbleToScale',
          status: 'True',
          reason: 'SucceededGetScale',
          message: "the HPA controller was able to get the target's current scale",
        };
  if ('error' in scale) return { actions: writeStatus(observed, { replicas: 0, says: [able] }), lookAgainAfterMs: AGAIN_MS };
  const outcome = outcomeOf(observed, scale);
  const actions = [...rescale(outcome, scale), ...writeStatus(observed, { ...outcome, says: [able, ...outcome.says] })];
  return { actions, lookAgainAfterMs: AGAIN_MS };
}

/** What the metrics ask for, before it is stabilized; undefined when they do not say. What the past is made of. */
export function recommendationOf(observed: ObservedAutoscaler): number | undefined {
  const { autoscaler, scale } = observed;
  if ('error' in scale || scale.specReplicas === 0) return undefined;
  const { minReplicas = 1, maxReplicas } = autoscaler.spec;
  const answer = byMetrics(observed, scale);
  return 'error' in answer ? undefined : Math.min(Math.max(answer.replicas, minReplicas), maxReplicas);
}

function outcomeOf(observed: ObservedAutoscaler, scale: Scale): Outcome {
  const { spec } = observed.autoscaler;
  const { minReplicas = 1, maxReplicas } = spec;
  const current = scale.specReplicas;
  if (current === 0 && minReplicas !== 0) {
    const message = 'scaling is disabled since the replica count of the target is zero';
    return { replicas: 0, says: [{ type: 'ScalingActive', status: 'False', reason: 'ScalingDisabled', message }] };
  }
  if (current > maxReplicas) return { replicas: maxReplicas, because: 'Current number of replicas above Spec.MaxReplicas', says: [] };
  if (current < minReplicas) return { replicas: minReplicas, because: 'Current number of replicas below Spec.MinReplicas', says: [] };
  const answer = byMetrics(observed, scale);
  if ('error' in answer) {
    const message = `the HPA was unable to compute the replica count: ${answer.error}`;
    const says: Said = { type: 'ScalingActive', status: 'False', reason: answer.reason, message };
    return { replicas: current, says: [says], metrics: answer.metrics, warning: answer.error };
  }
  const { past, steadyMs } = observed;
  const { replicas, stabilized, limited } = paced(spec, { desired: answer.replicas, current, past, steadyMs });
  const able = stabilized ?? ({ reason: 'ReadyForNewScale', message: 'recommended size matches current size' } as const);
  return {
    replicas,
    because: answer.replicas === current ? 'All metrics below target' : answer.because,
    metrics: answer.metrics,
    says: [
      {
        type: 'ScalingActive',
        status: 'True',
        reason: 'ValidMetricFound',
        message: `the HPA was able to successfully calculate a replica count from ${answer.from}`,
      },
      ...(replicas === current ? [{ type: 'AbleToScale', status: 'True', ...able } as const] : []),
      limited
        ? { type: 'ScalingLimited', status: 'True', ...limited }
        : {
            type: 'ScalingLimited',
            status: 'False',
            reason: 'DesiredWithinRange',
            message: 'the desired count is within the acceptable range',
          },
    ],
  };
}

type Answer =
  | { readonly replicas: number; readonly because: string; readonly from: string; readonly metrics: readonly MetricStatus[] }
  | {
      readonly error: string;
      readonly reason: HorizontalPodAutoscalerConditions['ScalingActive'];
      readonly metrics: readonly MetricStatus[];
    };

/** The metric that wants most counts. */
function byMetrics({ autoscaler: { spec }, pods, usages, now }: ObservedAutoscaler, scale: Scale): Answer {
  const tolerances = tolerancesOf(spec);
  const metrics: MetricStatus[] = [];
  let best: { readonly replicas: number; readonly because: string; readonly from: string } | undefined;
  let failure: { readonly error: string; readonly reason: HorizontalPodAutoscalerConditions['ScalingActive'] } | undefined;
  for (const metric of spec.metrics ?? []) {
    const isKnown = metric.resource !== undefined || metric.containerResource !== undefined;
    const answer =
      'error' in usages
        ? { error: `failed to get metrics: ${usages.error}` }
        : replicasByMetric({ metric, pods, usages, replicas: scale.specReplicas, tolerances, now });
    if ('error' in answer) {
      failure ??= { error: answer.error, reason: isKnown ? 'FailedGetResourceMetric' : 'InvalidMetricSourceType' };
      continue;
    }
    metrics.push(statusOf(metric, answer.current));
    if (!best || answer.replicas > best.replicas) best = { replicas: answer.replicas, because: answer.because, from: nameOf(metric) };
  }
  if (failure && (!best || best.replicas < scale.specReplicas)) return { ...failure, metrics };
  return best ? { ...best, metrics } : { error: 'there is no metric', reason: 'InvalidMetricSourceType', metrics };
}

function statusOf(
  { type, resource, containerResource }: MetricSpec,
  current: NonNullable<MetricStatus['resource']>['current'],
): MetricStatus {
  if (containerResource)
    return { type, containerResource: { name: containerResource.name, container: containerResource.container, current } };
  return { type, resource: { name: resource?.name ?? '', current } };
}

function nameOf({ resource, containerResource }: MetricSpec): string {
  const { name = '', target } = containerResource ?? resource ?? {};
  const how = target?.averageValue === undefined ? 'utilization (percentage of request)' : 'average value';
  return `${name} ${containerResource ? `container ${containerResource.container}` : 'resource'} ${how}`;
}

function rescale({ replicas, because = '' }: Outcome, { path, specReplicas }: Scale): ScaleAction[] {
  if (replicas === specReplicas) return [];
  const message = `New size: ${replicas}; reason: ${because}`;
  return [
    { do: 'scale', path, replicas, by: replicas - specReplicas, because, event: { type: 'Normal', reason: 'SuccessfulRescale', message } },
  ];
}

function writeStatus(observed: ObservedAutoscaler, { replicas, because, metrics = [], says, warning }: Outcome): Action[] {
  const { autoscaler, scale, now } = observed;
  const before: HorizontalPodAutoscalerStatus = autoscaler.status ?? { desiredReplicas: 0 };
  const isRescaled = !('error' in scale) && scale.specReplicas !== replicas;
  const rescaled: Said[] = isRescaled
    ? [
        {
          type: 'AbleToScale',
          status: 'True',
          reason: 'SucceededRescale',
          message: `the HPA controller was able to update the target scale to ${replicas}`,
        },
      ]
    : [];
  // The last word on each counts; what is said in between is no transition.
  const last = new Map([...says, ...rescaled].map((each) => [each.type, each]));
  const conditions = [...last.values()].reduce<readonly Condition[]>(
    (list, each) => withCondition<HorizontalPodAutoscalerConditions>(list, each, now),
    before.conditions ?? [],
  );
  const status: HorizontalPodAutoscalerStatus = {
    ...(before.lastScaleTime !== undefined && { lastScaleTime: before.lastScaleTime }),
    ...(isRescaled && { lastScaleTime: timestamp(now) }),
    ...(!('error' in scale) && { currentReplicas: scale.statusReplicas }),
    desiredReplicas: 'error' in scale ? before.desiredReplicas : replicas,
    currentMetrics: metrics.length > 0 ? metrics : undefined,
    conditions,
  };
  const patch = diffAsMergePatch(before, status);
  if (patch === undefined) return [];
  const wasActive = before.conditions?.find(({ type }) => type === 'ScalingActive')?.status;
  const event =
    warning !== undefined && wasActive !== 'False'
      ? { event: { type: 'Warning', reason: 'FailedGetResourceMetric', message: warning } as const }
      : {};
  return [
    {
      do: 'patch',
      target: refOf(autoscaler),
      subresource: 'status',
      patch: { status: patch },
      resourceVersion: autoscaler.metadata.resourceVersion,
      because: because ?? warning ?? `${HORIZONTAL_POD_AUTOSCALERS.kind} has looked`,
      ...event,
    },
  ];
}

/** Whether two say the same to whoever scales by them. */
export function wantsTheSame(one: HorizontalPodAutoscaler, other: HorizontalPodAutoscaler): boolean {
  return diffAsMergePatch(one.spec, other.spec) === undefined;
}

/**
 * How fast a recommendation is followed: by the window over which it has to hold (none upwards, five minutes downwards), and by how much may
 * change in a period (upwards four Pods or twice as many in 15 s, downwards all). Pure.
 */
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerConditions,
  ScalingRules,
} from '../../../api/core/horizontal-pod-autoscaler.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { Past } from './observed.ts';
import type { Tolerances } from './replicas-by-metric.ts';

type Spec = HorizontalPodAutoscaler['spec'];
type Reason<TYPE extends keyof HorizontalPodAutoscalerConditions> = {
  readonly reason: HorizontalPodAutoscalerConditions[TYPE];
  readonly message: string;
};
export type Paced = {
  readonly replicas: number;
  readonly stabilized?: Reason<'AbleToScale'>;
  readonly limited?: Reason<'ScalingLimited'>;
};

const TOLERANCE = 0.1;
const UP: ScalingRules = {
  stabilizationWindowSeconds: 0,
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const DOWN: ScalingRules = { stabilizationWindowSeconds: 300, policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

/** The longest that anything of the past can matter. */
export const LONGEST_WINDOW_MS = 3_600_000;

/** How far from its target a metric may be. */
export function tolerancesOf({ behavior }: Spec): Tolerances {
  const of = (rules: ScalingRules | undefined) =>
    rules?.tolerance === undefined ? TOLERANCE : (parseQuantity(rules.tolerance) ?? TOLERANCE);
  return { up: of(behavior?.scaleUp), down: of(behavior?.scaleDown) };
}

/** What of `desired` is done now. */
export function paced(spec: Spec, input: { desired: number; current: number; past: Past; steadyMs: number }): Paced {
  const { current, past, steadyMs } = input;
  const [up, down] = [
    { ...UP, ...spec.behavior?.scaleUp },
    { ...DOWN, ...spec.behavior?.scaleDown },
  ];
  const within = (rules: ScalingRules) =>
    past.recommendations
      .filter(({ atMs }) => atMs > steadyMs - (rules.stabilizationWindowSeconds ?? 0) * 1000)
      .map(({ replicas }) => replicas);
  const lowest = Math.min(input.desired, ...within(up));
  const highest = Math.max(input.desired, ...within(down));
  const stable = Math.min(Math.max(current, lowest), highest);
  const stabilized = stable === input.desired ? undefined : stabilizedBy(stable > input.desired ? 'down' : 'up');
  const desired = stable;
  const change = changesSince(past, steadyMs);
  const limit = desired > current ? upLimit(up, current, change) : desired < current ? downLimit(down, current, change) : desired;
  const isHeld = desired > current ? desired > limit : desired < limit;
  const min = spec.minReplicas ?? 1;
  const bounded = Math.min(Math.max(isHeld ? limit : desired, min), spec.maxReplicas);
  const limited = limitedBy({ desired, limit: isHeld ? limit : undefined, min, max: spec.maxReplicas, current });
  return { replicas: bounded, ...(stabilized && { stabilized }), ...(limited && { limited }) };
}

function stabilizedBy(direction: 'up' | 'down'): Reason<'AbleToScale'> {
  return direction === 'down'
    ? {
        reason: 'ScaleDownStabilized',
        message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
      }
    : {
        reason: 'ScaleUpStabilized',
        message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
      };
}

type Change = (periodSeconds: number) => { readonly added: number; readonly removed: number };

function changesSince({ changes }: Past, steadyMs: number): Change {
  return (periodSeconds) => {
    const recent = changes.filter(({ atMs }) => atMs > steadyMs - periodSeconds * 1000).map(({ by }) => by);
    const sum = (values: readonly number[]) => values.reduce((total, each) => total + Math.abs(each), 0);
    return { added: sum(recent.filter((by) => by > 0)), removed: sum(recent.filter((by) => by < 0)) };
  };
}

function upLimit({ policies = UP.policies, selectPolicy }: ScalingRules, current: number, change: Change): number {
  if (selectPolicy === 'Disabled') return current;
  const limits = (policies ?? []).map(({ type, value, periodSeconds }) => {
    const { added, removed } = change(periodSeconds);
    const start = current - added + removed;
    return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100));
  });
  return Math.max(current, selectPolicy === 'Min' ? Math.min(...limits) : Math.max(...limits));
}

function downLimit({ policies = DOWN.policies, selectPolicy }: ScalingRules, current: number, change: Change): number {
  if (selectPolicy === 'Disabled') return current;
  const limits = (policies ?? []).map(({ type, value, periodSeconds }) => {
    const { added, removed } = change(periodSeconds);
    const start = current - added + removed;
    return type === 'Pods' ? start - value : Math.floor(start * (1 - value / 100));
  });
  return Math.min(current, selectPolicy === 'Min' ? Math.max(...limits) : Math.min(...limits));
}

type Bounds = {
  readonly desired: number;
  readonly limit: number | undefined;
  readonly min: number;
  readonly max: number;
  readonly current: number;
};

function limitedBy({ desired, limit, min, max, current }: Bounds): Reason<'ScalingLimited'> | undefined {
  const wanted = limit ?? desired;
  if (wanted > max) return { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' };
  if (wanted < min) return { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' };
  if (limit === undefined) return undefined;
  return desired > current
    ? { reason: 'ScaleUpLimit', message: 'the desired replica count is increasing faster than the maximum scale rate' }
    : { reason: 'ScaleDownLimit', message: 'the desired replica count is decreasing faster than the maximum scale rate' };
}

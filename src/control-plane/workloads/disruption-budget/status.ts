/** The status of a PodDisruptionBudget that follows from its Pods and from how many there should be. Pure. */
import type { Pod } from '../../../api/core/pod.ts';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetConditions,
  PodDisruptionBudgetStatus,
} from '../../../api/core/pod-disruption-budget.ts';
import { withCondition } from '../../../api/kubevirt/conditions.ts';
import { controllerOf, isDeleting } from '../../../api/meta.ts';
import { isPodReady } from '../pod-state.ts';
import { resolveShare } from '../share.ts';
import type { ObservedBudget } from './observed.ts';

/** A granted eviction that has not become a deletion by then never will: the Pod counts again. */
const GRANTED_MS = 120_000;

type Wanted = { readonly expectedPods: number; readonly desiredHealthy: number };
type Unknown = { readonly whyUnknown: string };

/** True where the budget is a share of what the controllers of the Pods want; the Pods that are there do not tell that. */
export function dependsOnScale({ spec }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';
}

/** The whole status. What cannot be counted allows nothing. */
export function deriveBudgetStatus(observed: ObservedBudget): PodDisruptionBudgetStatus {
  const { budget, pods, now } = observed;
  const wanted = wantedOf(observed);
  const disruptedPods = stillGranted(observed);
  const before = budget.status?.conditions ?? [];
  const counted = 'whyUnknown' in wanted ? uncounted(budget) : wanted;
  const currentHealthy = pods.filter((pod) => isHealthy(pod, disruptedPods)).length;
  const spare = counted.expectedPods > 0 ? Math.max(0, currentHealthy - counted.desiredHealthy) : 0;
  const disruptionsAllowed = 'whyUnknown' in wanted ? 0 : spare;
  return {
    observedGeneration: budget.metadata.generation,
    disruptionsAllowed,
    currentHealthy,
    ...counted,
    disruptedPods: Object.keys(disruptedPods).length === 0 ? undefined : disruptedPods,
    conditions: withCondition<PodDisruptionBudgetConditions>(
      before,
      'whyUnknown' in wanted
        ? { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: wanted.whyUnknown }
        : disruptionsAllowed > 0
          ? { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '' }
          : { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' },
      now,
    ),
  };
}

/** In how long the first granted eviction lapses, if there is one. */
export function nextLapseMs(status: PodDisruptionBudgetStatus, now: number): number | undefined {
  const times = Object.values(status.disruptedPods ?? {}).map((at) => Date.parse(at) + GRANTED_MS - now);
  return times.length === 0
    ? undefined
    : Math.max(
        0,
        times.reduce((a, b) => Math.min(a, b)),
      );
}

function uncounted({ status }: PodDisruptionBudget): Wanted {
  return { expectedPods: status?.expectedPods ?? 0, desiredHealthy: status?.desiredHealthy ?? 0 };
}

function wantedOf(observed: ObservedBudget): Wanted | Unknown {
  const { budget, pods } = observed;
  const { minAvailable, maxUnavailable } = budget.spec;
  if (!dependsOnScale(budget)) return { expectedPods: pods.length, desiredHealthy: Number(minAvailable ?? 0) };
  const expectedPods = expectedOf(observed);
  if (typeof expectedPods !== 'number') return expectedPods;
  if (maxUnavailable === undefined) return { expectedPods, desiredHealthy: resolveShare(minAvailable, expectedPods, 'up') };
  return { expectedPods, desiredHealthy: Math.max(0, expectedPods - resolveShare(maxUnavailable, expectedPods, 'up')) };
}

/** What all controllers of the Pods want together; a Pod without a controller adds nothing. */
function expectedOf({ pods, scales }: ObservedBudget): number | Unknown {
  const replicas = new Map<string, number>();
  for (const pod of pods) {
    const controller = controllerOf(pod);
    if (!controller) continue;
    const scale = scales.get(controller.uid);
    if (!scale) return { whyUnknown: withoutScale(pod, controller) };
    replicas.set(scale.uid, scale.replicas);
  }
  return [...replicas.values()].reduce((sum, each) => sum + each, 0);
}

function withoutScale({ metadata }: Pod, { kind, name }: { readonly kind: string; readonly name: string }): string {
  return `found no number of replicas for pod "${metadata.name}": its controller is ${kind} ${name}; give minAvailable as a number`;
}

function stillGranted({ budget, pods, now }: ObservedBudget): Record<string, string> {
  const present = new Set(pods.filter((pod) => !isDeleting(pod)).map(({ metadata }) => metadata.name));
  const granted = Object.entries(budget.status?.disruptedPods ?? {});
  return Object.fromEntries(granted.filter(([name, at]) => present.has(name) && Date.parse(at) + GRANTED_MS > now));
}

function isHealthy(pod: Pod, disrupted: Readonly<Record<string, string>>): boolean {
  return !isDeleting(pod) && !Object.hasOwn(disrupted, pod.metadata.name) && isPodReady(pod);
}

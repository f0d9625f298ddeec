/**
 * How many replicas one metric asks for, counted as Kubernetes counts: Pods that are not ready yet use nothing when more are wanted, Pods that
 * nobody has measured use nothing when more and all they asked for when fewer are wanted, and neither turns the direction around. Pure.
 */
import type { MetricSpec, MetricTarget, MetricValue } from '../../../api/core/horizontal-pod-autoscaler.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { resourceList } from '../../../api/core/pod-resources.ts';
import { conditionOf, isDeleting } from '../../../api/meta.ts';
import { formatBytes, formatCores, parseQuantity } from '../../../base/quantity.ts';
import type { PodUsage } from './observed.ts';

export type Tolerances = { readonly up: number; readonly down: number };
export type MetricInput = {
  readonly metric: MetricSpec;
  readonly pods: readonly Pod[];
  readonly usages: ReadonlyMap<string, PodUsage>;
  readonly replicas: number;
  readonly tolerances: Tolerances;
  readonly now: number;
};
export type MetricAnswer =
  | { readonly replicas: number; readonly current: MetricValue; readonly because: string }
  | { readonly error: string };

/** As the controller manager of Kubernetes has them. */
const CPU_INITIALIZATION_MS = 300_000;
const INITIAL_READINESS_MS = 30_000;

/** The rules above, for a metric of type Resource or ContainerResource. */
export function replicasByMetric(input: MetricInput): MetricAnswer {
  const { metric } = input;
  const source = metric.containerResource ?? metric.resource;
  if (!source) return { error: `there is no metric of type ${metric.type} here: cpu and memory are measured` };
  const { name, target } = source;
  const container = metric.containerResource?.container;
  const groups = grouped(input, name);
  const measured = new Map<string, number>();
  for (const [pod, usage] of groups.measured) {
    const used = usedBy(usage, name, container);
    if (used === undefined)
      return { error: `failed to get ${name} utilization: nothing is measured of container ${container} of Pod ${pod}` };
    measured.set(pod, used);
  }
  if (measured.size === 0)
    return { error: `failed to get ${name} utilization: did not receive metrics for targeted pods (pods might be unready)` };
  const wants = wantedUse(input.pods, { name, target, container });
  if ('error' in wants) return wants;
  const ratio = ratioOf(measured, wants);
  const replicas = count(input, { measured, ratio, groups, wants });
  return { replicas, current: currentOf(measured, wants, { name, target }), because: textOf(name, target, container, ratio) };
}

type Groups = {
  readonly measured: ReadonlyMap<string, PodUsage>;
  readonly missing: readonly string[];
  readonly unready: readonly string[];
};

function grouped({ pods, usages, now }: MetricInput, resource: string): Groups {
  const measured = new Map<string, PodUsage>();
  const [missing, unready]: [string[], string[]] = [[], []];
  for (const pod of pods) {
    const { name } = pod.metadata;
    if (isDeleting(pod) || pod.status?.phase === 'Failed') continue;
    const usage = usages.get(name);
    if (pod.status?.phase === 'Pending') unready.push(name);
    else if (!usage) missing.push(name);
    else if (resource === 'cpu' && isWarmingUp(pod, usage, now)) unready.push(name);
    else measured.set(name, usage);
  }
  return { measured, missing, unready };
}

/** What a Pod needs to start says nothing about what it will need. */
function isWarmingUp({ status }: Pod, usage: PodUsage, now: number): boolean {
  const ready = conditionOf(status?.conditions, 'Ready');
  const [startedAt, changedAt] = [Date.parse(status?.startTime ?? ''), Date.parse(ready?.lastTransitionTime ?? '')];
  if (!ready || Number.isNaN(startedAt)) return true;
  const isUnready = ready.status === 'False';
  if (now < startedAt + CPU_INITIALIZATION_MS) return isUnready || usage.takenAtMs < changedAt + usage.windowMs;
  return isUnready && startedAt + INITIAL_READINESS_MS > changedAt;
}

function usedBy({ containers }: PodUsage, resource: string, container: string | undefined): number | undefined {
  if (container !== undefined) return containers.get(container)?.[resource];
  return [...containers.values()].reduce((sum, usage) => sum + (usage[resource] ?? 0), 0);
}

/** What a Pod should use: a share of what it asked for, or a value; and what it asked for. */
type Wants = {
  readonly ofPod: (name: string) => number;
  /** What counts for a Pod that nobody has measured, when fewer are wanted. */
  readonly fallback: (name: string) => number;
  readonly requests?: ReadonlyMap<string, number>;
  /** In percent, or undefined for a value. */
  readonly utilization?: number;
};

type Wanted = { readonly name: string; readonly target: MetricTarget; readonly container: string | undefined };

function wantedUse(pods: readonly Pod[], { name, target, container }: Wanted): Wants | { readonly error: string } {
  if (target.averageValue !== undefined) {
    const value = parseQuantity(target.averageValue) ?? 0;
    return value > 0 ? { ofPod: () => value, fallback: () => value } : { error: 'invalid metrics: averageValue must be above 0' };
  }
  const percent = target.averageUtilization;
  if (percent === undefined || percent <= 0) return { error: 'invalid metrics: a resource needs averageUtilization or averageValue' };
  const requests = new Map<string, number>();
  for (const pod of pods) {
    let sum = 0;
    for (const each of pod.spec.containers) {
      if (container !== undefined && each.name !== container) continue;
      const request = resourceList(each.resources?.requests)[name];
      if (request === undefined)
        return {
          error: `failed to get ${name} utilization: missing request for ${name} in container ${each.name} of Pod ${pod.metadata.name}`,
        };
      sum += request;
    }
    requests.set(pod.metadata.name, sum);
  }
  const share = (factor: number) => (pod: string) => ((requests.get(pod) ?? 0) * factor) / 100;
  return { ofPod: share(percent), fallback: share(Math.max(100, percent)), requests, utilization: percent };
}

/** Above 1 when they use more than they should. */
function ratioOf(used: ReadonlyMap<string, number>, { ofPod, requests, utilization }: Wants): number {
  const total = sumOf(used.values());
  if (!requests || utilization === undefined) return total / sumOf([...used.keys()].map(ofPod));
  const requested = sumOf([...used.keys()].map((pod) => requests.get(pod) ?? 0));
  return Math.floor((total * 100) / requested + 1e-9) / utilization;
}

type Counted = {
  readonly measured: ReadonlyMap<string, number>;
  readonly ratio: number;
  readonly groups: Groups;
  readonly wants: Wants;
};

function count({ replicas, tolerances }: MetricInput, { measured, ratio, groups, wants }: Counted): number {
  const isWithin = (value: number) => value >= 1 - tolerances.down && value <= 1 + tolerances.up;
  const { missing, unready } = groups;
  const countsUnready = unready.length > 0 && ratio > 1;
  if (!countsUnready && missing.length === 0) return isWithin(ratio) ? replicas : Math.ceil(rounded(ratio * measured.size));
  const all = new Map(measured);
  for (const name of missing) if (ratio !== 1) all.set(name, ratio < 1 ? wants.fallback(name) : 0);
  if (countsUnready) for (const name of unready) all.set(name, 0);
  const again = ratioOf(all, wants);
  if (isWithin(again) || (ratio < 1 && again > 1) || (ratio > 1 && again < 1)) return replicas;
  const next = Math.ceil(rounded(again * all.size));
  return (again < 1 && next > replicas) || (again > 1 && next < replicas) ? replicas : next;
}

/** A hair above a whole number is that number. */
function rounded(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function sumOf(values: Iterable<number>): number {
  return [...values].reduce((sum, value) => sum + value, 0);
}

function currentOf(used: ReadonlyMap<string, number>, { requests }: Wants, { name }: Pick<Wanted, 'name' | 'target'>): MetricValue {
  const total = sumOf(used.values());
  const average = total / used.size;
  const averageValue = name === 'cpu' ? formatCores(average) : formatBytes(Math.ceil(average));
  if (!requests) return { averageValue };
  const requested = sumOf([...used.keys()].map((pod) => requests.get(pod) ?? 0));
  return { averageUtilization: Math.floor((total * 100) / requested + 1e-9), averageValue };
}

function textOf(name: string, target: MetricTarget, container: string | undefined, ratio: number): string {
  const what = target.averageValue === undefined ? `${name} resource utilization (percentage of request)` : `${name} resource`;
  return `${container === undefined ? what : `${what} of container ${container}`} ${ratio > 1 ? 'above' : 'below'} target`;
}

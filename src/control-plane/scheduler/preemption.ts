/**
 * Which Pods make room for one that is more important and finds none. Of each node:
 *
 *   would not take the Pod even without all that are less important   not here
 *   otherwise                                                         of those, the most important and oldest stay, as long as the Pod has room;
 *                                                                     such that a disruption budget protects are the first that stay
 *
 * And of the nodes the one with, in this order: fewest victims against a budget, the least important most important victim, the smallest sum of
 * priorities, fewest victims, the victim that started last; then the first by name.
 *
 * Pure: no clock, no I/O.
 */
import { type Pod, priorityOf } from '../../api/core/pod.ts';
import type { PodDisruptionBudget } from '../../api/core/pod-disruption-budget.ts';
import { requestsOf, totalOf } from '../../api/core/pod-resources.ts';
import { isDeleting } from '../../api/meta.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import type { ClusterView, NodeState } from './cluster-view.ts';
import { objectionsTo, type Wishes, wishesAgain } from './filters.ts';

export type Victims = { readonly nodeName: string; readonly pods: readonly Pod[] };
export type PreemptionInput = {
  readonly wishes: Wishes;
  readonly cluster: ClusterView;
  /** Asked for only when somebody could leave. */
  readonly budgets: () => readonly PodDisruptionBudget[];
};

/** Priorities are numbers of 32 bits; moved above zero, so that more victims are never the smaller sum. */
const OFFSET = 2 ** 31;
/** Nodes that are looked at until one is found, as upstream does: the best of them will do. */
const MAX_CANDIDATES = 100;

/** Undefined when nobody may or can be asked to leave. */
export function victimsFor(input: PreemptionInput): Victims | undefined {
  const { wishes, cluster } = input;
  const { pod } = wishes;
  if (pod.spec.preemptionPolicy === 'Never' || !hasLessImportant(pod, cluster) || isWaitingForVictims(pod, cluster)) return undefined;
  const budgets = input.budgets();
  let best: Candidate | undefined;
  let found = 0;
  for (const state of cluster.nodes.values()) {
    const candidate = candidateOn(state, { wishes, cluster, budgets });
    if (!candidate) continue;
    if (!best || isBetter(candidate, best)) best = candidate;
    found += 1;
    if (found === MAX_CANDIDATES) break;
  }
  return best && { nodeName: best.nodeName, pods: best.pods };
}

function hasLessImportant(pod: Pod, { priorities }: ClusterView): boolean {
  for (const priority of priorities.keys()) if (priority < priorityOf(pod)) return true;
  return false;
}

/** Room is being made for it already. */
function isWaitingForVictims(pod: Pod, { nodes }: ClusterView): boolean {
  const there = nodes.get(pod.status?.nominatedNodeName ?? '');
  if (!there) return false;
  for (const each of there.pods.values()) if (isDeleting(each) && priorityOf(each) < priorityOf(pod)) return true;
  return false;
}

type Candidate = Victims & { readonly ranks: readonly number[] };

type Search = Omit<PreemptionInput, 'budgets'> & { readonly budgets: readonly PodDisruptionBudget[] };

function candidateOn(state: NodeState, { wishes, cluster, budgets }: Search): Candidate | undefined {
  const lesser = [...state.pods].filter(([, each]) => priorityOf(each) < priorityOf(wishes.pod)).sort(([, a], [, b]) => byImportance(a, b));
  const gone = new Map(lesser);
  if (lesser.length === 0 || !fitsWithout(gone, { state, wishes, cluster })) return undefined;
  const isProtected = protectedAmong(lesser, budgets);
  const victims: Pod[] = [];
  let violations = 0;
  for (const [uid, each] of [...lesser.filter(([, pod]) => isProtected.has(pod)), ...lesser.filter(([, pod]) => !isProtected.has(pod))]) {
    gone.delete(uid);
    if (fitsWithout(gone, { state, wishes, cluster })) continue;
    gone.set(uid, each);
    victims.push(each);
    if (isProtected.has(each)) violations += 1;
  }
  if (victims.length === 0) return undefined;
  return { nodeName: state.node.metadata.name, pods: victims, ranks: ranksOf(victims, violations) };
}

function byImportance(a: Pod, b: Pod): number {
  return priorityOf(b) - priorityOf(a) || startedAt(a) - startedAt(b) || a.metadata.name.localeCompare(b.metadata.name);
}

function startedAt({ metadata, status }: Pod): number {
  return Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '') || 0;
}

type Situation = { readonly state: NodeState; readonly wishes: Wishes; readonly cluster: ClusterView };

/** Rules between Pods look at the whole cluster, and are asked only for a node that has passed everything else. */
function fitsWithout(gone: ReadonlyMap<string, Pod>, { state, wishes, cluster }: Situation): boolean {
  const pods = new Map([...state.pods].filter(([uid]) => !gone.has(uid)));
  const freed = totalOf([...gone.values()].map(requestsOf));
  const used = Object.fromEntries(Object.entries(state.used).map(([name, amount]) => [name, amount - (freed[name] ?? 0)]));
  const left: NodeState = { ...state, pods, used };
  const view: ClusterView = {
    get nodes() {
      return new Map(cluster.nodes).set(state.node.metadata.name, left);
    },
    get repelling() {
      return new Map([...cluster.repelling].filter(([uid]) => !gone.has(uid)));
    },
    nominated: cluster.nominated,
    priorities: cluster.priorities,
  };
  return objectionsTo(wishesAgain(wishes, view), left).length === 0;
}

/** Whom a budget would not let go, were all of them to go in this order. */
function protectedAmong(pods: readonly (readonly [string, Pod])[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<Pod> {
  const left = budgets.map((budget) => ({ budget, allowed: budget.status?.disruptionsAllowed ?? 0 }));
  const found = new Set<Pod>();
  for (const [, pod] of pods) {
    for (const each of left) {
      const { metadata, spec, status } = each.budget;
      const isMeant = metadata.namespace === pod.metadata.namespace && spec.selector !== undefined;
      if (!isMeant || status?.disruptedPods?.[pod.metadata.name] !== undefined) continue;
      if (!matchesLabels(requirementsOf(spec.selector ?? {}), pod.metadata.labels)) continue;
      each.allowed -= 1;
      if (each.allowed < 0) found.add(pod);
    }
  }
  return found;
}

function ranksOf(victims: readonly Pod[], violations: number): number[] {
  const highest = Math.max(...victims.map(priorityOf));
  const sum = victims.reduce((total, each) => total + priorityOf(each) + OFFSET, 0);
  const earliest = Math.min(...victims.filter((each) => priorityOf(each) === highest).map(startedAt));
  return [violations, highest, sum, victims.length, -earliest];
}

function isBetter(a: Candidate, b: Candidate): boolean {
  const first = a.ranks.findIndex((rank, index) => rank !== b.ranks[index]);
  return first === -1 ? a.nodeName < b.nodeName : (a.ranks[first] ?? 0) < (b.ranks[first] ?? 0);
}

/**
 * Which node a Pod goes to.
 *
 *   the Pod has a node, has ended, is going, is gated, or is another scheduler's    leave it
 *   some nodes pass every filter                                                    bind it to the best of them
 *   none does                                                                       say why; a change of nodes or Pods wakes it
 *
 * Filters, in order; the first that a node fails is what is said of it:
 *   cordoned, not ready, taints, node selector and affinity, host ports, resources, affinities between Pods, how they are spread.
 * Best: fewest taints it would rather avoid, most evenly spread, most preferred, least loaded, fewest Pods, first by name.
 */

import { preferenceFor } from '../../api/core/node-affinity.ts';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import type { ResourceList } from '../../api/core/pod-resources.ts';
import { dislikedTaints } from '../../api/core/taints.ts';
import { type Condition, conditionOf, isDeleting, refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';
import type { ClusterView, NodeState } from './cluster-view.ts';
import { objectionsTo, type Wishes, wishesOf } from './filters.ts';

export type ObservedBinding = { readonly pod: Pod; readonly cluster: ClusterView; readonly now: number };

/** Changes wake whoever waits; this is for room that comes free without one, such as a binding that failed. */
const LOOK_AGAIN_MS = 60_000;

export const SCHEDULER_NAME = 'default-scheduler';

/** The Pod waits for this scheduler to find it a node. */
export function needsNode(pod: Pod): boolean {
  const { nodeName, schedulerName, schedulingGates } = pod.spec;
  const isOurs = (schedulerName || SCHEDULER_NAME) === SCHEDULER_NAME;
  return isOurs && !nodeName && !schedulingGates?.length && !isDeleting(pod) && !isPodFinal(pod);
}

/** Binds the Pod, or says on it why that cannot be done. */
export function decideBinding(observed: ObservedBinding): Decision {
  const { pod, cluster } = observed;
  if (!needsNode(pod)) return nothingToDo;
  const wishes = wishesOf(pod, cluster);
  const objections: (readonly string[])[] = [];
  let possible = 0;
  let best: Fitness | undefined;
  for (const state of cluster.nodes.values()) {
    const against = objectionsTo(wishes, state);
    objections.push(against);
    if (against.length > 0) continue;
    possible += 1;
    const fitness = fitnessOf(state, wishes);
    if (!best || isBetter(fitness, best)) best = fitness;
  }
  if (!best) return reportUnschedulable(observed, objections);
  const { namespace, name } = pod.metadata;
  const nodeName = best.name;
  const event = { type: 'Normal', reason: 'Scheduled', message: `Successfully assigned ${namespace}/${name} to ${nodeName}` } as const;
  return {
    actions: [{ do: 'bind', pod: refOf(pod), nodeName, event, because: `best of ${possible} possible of ${cluster.nodes.size} nodes` }],
  };
}

/** Where a node comes among those that are possible: the first of these in which two differ decides, and less is better. */
type Fitness = { readonly name: string; readonly ranks: readonly number[] };

function fitnessOf(state: NodeState, { pod, requests, spread }: Wishes): Fitness {
  const { node, pods } = state;
  const ranks = [dislikedTaints(pod, node), spread.unevenness(node), -preferenceFor(pod, node), loadWith(requests, state), pods.size];
  return { name: node.metadata.name, ranks };
}

function isBetter(a: Fitness, b: Fitness): boolean {
  const first = a.ranks.findIndex((rank, index) => rank !== b.ranks[index]);
  return first === -1 ? a.name < b.name : (a.ranks[first] ?? 0) < (b.ranks[first] ?? 0);
}

/** The mean of how full processors and memory would be. */
function loadWith(requests: ResourceList, { allocatable, used }: NodeState): number {
  const share = (name: string) => ((used[name] ?? 0) + (requests[name] ?? 0)) / (allocatable[name] || 1);
  return (share('cpu') + share('memory')) / 2;
}

/** Written only when it differs from what the Pod already says, so an event is a transition too. */
function reportUnschedulable({ pod, now }: ObservedBinding, objections: readonly (readonly string[])[]): Decision {
  const message = explainObjections(objections);
  const conditions = pod.status?.conditions ?? [];
  const before = conditionOf(conditions, 'PodScheduled');
  if (before?.status === 'False' && before.reason === 'Unschedulable' && before.message === message)
    return { actions: [], lookAgainAfterMs: LOOK_AGAIN_MS };
  const lastTransitionTime = before?.status === 'False' ? before.lastTransitionTime : timestamp(now);
  const condition: Condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime };
  const patch = { status: { conditions: [...conditions.filter(({ type }) => type !== 'PodScheduled'), condition] } };
  const event = { type: 'Warning', reason: 'FailedScheduling', message } as const;
  const { resourceVersion } = pod.metadata;
  return {
    actions: [{ do: 'patch', target: refOf(pod), subresource: 'status', patch, resourceVersion, event, because: message }],
    lookAgainAfterMs: LOOK_AGAIN_MS,
  };
}

/** `0/3 nodes are available: 1 Insufficient memory, 2 node(s) were unschedulable.` */
function explainObjections(objections: readonly (readonly string[])[]): string {
  if (objections.length === 0) return 'no nodes available to schedule pods';
  const counts = new Map<string, number>();
  for (const reason of objections.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${objections.length} nodes are available: ${reasons.join(', ')}.`;
}

/**
 * Which node a Pod goes to.
 *
 *   the Pod has a node, has ended, is going, is gated, or is another scheduler's    leave it
 *   some nodes pass every filter                                                    bind it to the best of them
 *   none does, and less important Pods can make room (preemption.ts)                choose a node for it, say why it waits, delete them
 *   none does                                                                       say why; a change of nodes or Pods wakes it
 *
 * Filters, in order; the first that a node fails is what is said of it:
 *   cordoned, not ready, taints, node selector and affinity, host ports, resources, affinities between Pods, how they are spread.
 * Best: fewest taints it would rather avoid, most evenly spread, most preferred, least loaded, fewest Pods, first by name.
 */

import { preferenceFor } from '../../api/core/node-affinity.ts';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import type { PodDisruptionBudget } from '../../api/core/pod-disruption-budget.ts';
import type { ResourceList } from '../../api/core/pod-resources.ts';
import { dislikedTaints } from '../../api/core/taints.ts';
import { type Condition, conditionOf, isDeleting, keyOf, refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import type { ClusterView, NodeState } from './cluster-view.ts';
import { objectionsTo, type Wishes, wishesOf } from './filters.ts';
import { victimsFor } from './preemption.ts';

export type ObservedBinding = {
  readonly pod: Pod;
  readonly cluster: ClusterView;
  /** Of all namespaces; asked for only when somebody could be asked to leave. */
  readonly budgets: () => readonly PodDisruptionBudget[];
  readonly now: number;
};

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
  if (!best) return makeRoom(observed, wishes, objections);
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

/** The node is noted on the Pod first: what comes free there is kept for it. */
function makeRoom(observed: ObservedBinding, wishes: Wishes, objections: readonly (readonly string[])[]): Decision {
  const { pod, cluster, budgets, now } = observed;
  const victims = victimsFor({ wishes, cluster, budgets });
  if (!victims) return reportUnschedulable(observed, objections);
  const { nodeName } = victims;
  const leave = victims.pods.filter((each) => !isDeleting(each)).flatMap((victim) => preempt(victim, { by: pod, nodeName, now }));
  return { actions: [unschedulable(observed, objections, nodeName), ...leave], lookAgainAfterMs: LOOK_AGAIN_MS };
}

function preempt(victim: Pod, { by, nodeName, now }: { by: Pod; nodeName: string; now: number }): Action[] {
  const because = `Pod ${keyOf(by.metadata)} is more important and needs its room on ${nodeName}`;
  const message = `${SCHEDULER_NAME}: preempting to accommodate a higher priority pod`;
  const condition: Condition = {
    ...{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message },
    lastTransitionTime: timestamp(now),
  };
  const conditions = [...(victim.status?.conditions ?? []).filter(({ type }) => type !== condition.type), condition];
  const { resourceVersion } = victim.metadata;
  const text = `Preempted by pod ${by.metadata.uid} on node ${nodeName}`;
  const event = { type: 'Normal', reason: 'Preempted', message: text, about: victim } as const;
  return [
    { do: 'patch', target: refOf(victim), subresource: 'status', patch: { status: { conditions } }, resourceVersion, because },
    { do: 'delete', target: refOf(victim), because, event },
  ];
}

/** Written only when it differs from what the Pod already says, so an event is a transition too. */
function reportUnschedulable(observed: ObservedBinding, objections: readonly (readonly string[])[]): Decision {
  const before = conditionOf(observed.pod.status?.conditions, 'PodScheduled');
  const isSaid = before?.status === 'False' && before.reason === 'Unschedulable' && before.message === explainObjections(objections);
  return { actions: isSaid ? [] : [unschedulable(observed, objections)], lookAgainAfterMs: LOOK_AGAIN_MS };
}

function unschedulable({ pod, now }: ObservedBinding, objections: readonly (readonly string[])[], nominatedNodeName?: string): Action {
  const message = explainObjections(objections);
  const conditions = pod.status?.conditions ?? [];
  const before = conditionOf(conditions, 'PodScheduled');
  const lastTransitionTime = before?.status === 'False' ? before.lastTransitionTime : timestamp(now);
  const condition: Condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime };
  const all = [...conditions.filter(({ type }) => type !== 'PodScheduled'), condition];
  const patch = { status: { conditions: all, ...(nominatedNodeName !== undefined && { nominatedNodeName }) } };
  const event = { type: 'Warning', reason: 'FailedScheduling', message } as const;
  const { resourceVersion } = pod.metadata;
  return { do: 'patch', target: refOf(pod), subresource: 'status', patch, resourceVersion, event, because: message };
}

/** `0/3 nodes are available: 1 Insufficient memory, 2 node(s) were unschedulable.` */
function explainObjections(objections: readonly (readonly string[])[]): string {
  if (objections.length === 0) return 'no nodes available to schedule pods';
  const counts = new Map<string, number>();
  for (const reason of objections.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${objections.length} nodes are available: ${reasons.join(', ')}.`;
}

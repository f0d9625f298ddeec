/**
 * Which node a Pod goes to.
 *
 *   the Pod has a node, has ended, is going, is gated, or is another scheduler's    leave it
 *   some nodes pass every filter                                                    bind it to the best of them
 *   none does                                                                       say why; a change of nodes or Pods wakes it
 *
 * Filters, in order; the first that a node fails is what is said of it:
 *   cordoned, not ready, taints, node selector and affinity, host ports, resources, affinities between Pods.
 * Best: fewest taints it would rather avoid, most preferred, least loaded, fewest Pods, first by name.
 */
import type { Node } from '../../api/core/node.ts';
import { type ContainerPort, isPodFinal, type Pod } from '../../api/core/pod.ts';
import { type Condition, conditionOf, isDeleting, refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/clock.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { isNodeWanted, preferenceFor } from './node-affinity.ts';
import { isAcceptedByOthers, meetsAffinity, meetsAntiAffinity, type Placement } from './pod-affinity.ts';
import { type ResourceList, requestsOf, resourceList } from './requests.ts';
import { dislikedTaints, isReady, NOT_READY, tolerates, UNSCHEDULABLE, untoleratedTaint } from './taints.ts';

/** A node, the Pods that hold a place on it, and what they ask for together. */
export type NodeState = Placement & { readonly used: ResourceList };

export type ObservedBinding = { readonly pod: Pod; readonly nodes: readonly NodeState[]; readonly now: number };

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
  const { pod, nodes } = observed;
  if (!needsNode(pod)) return nothingToDo;
  const requests = requestsOf(pod);
  const objections = new Map(nodes.map((state) => [state, objectionsTo({ pod, requests, state, nodes })]));
  const possible = nodes.filter((state) => objections.get(state)?.length === 0);
  const best = possible.sort(byFitness(pod, requests))[0];
  if (!best) return reportUnschedulable(observed, [...objections.values()]);
  const { namespace, name } = pod.metadata;
  const nodeName = best.node.metadata.name;
  const event = { type: 'Normal', reason: 'Scheduled', message: `Successfully assigned ${namespace}/${name} to ${nodeName}` } as const;
  return {
    actions: [{ do: 'bind', pod: refOf(pod), nodeName, event, because: `best of ${possible.length} possible of ${nodes.length} nodes` }],
  };
}

type Candidate = { readonly pod: Pod; readonly requests: ResourceList; readonly state: NodeState; readonly nodes: readonly NodeState[] };

const FILTERS: readonly ((candidate: Candidate) => readonly string[])[] = [
  ({ pod, state }) => when(state.node.spec?.unschedulable === true && !tolerates(pod, UNSCHEDULABLE), 'node(s) were unschedulable'),
  ({ pod, state }) => when(!isReady(state.node) && !tolerates(pod, NOT_READY), 'node(s) were not ready'),
  ({ pod, state }) => {
    const taint = untoleratedTaint(pod, state.node);
    return when(taint !== undefined, `node(s) had untolerated taint {${taint?.key}: ${taint?.value ?? ''}}`);
  },
  ({ pod, state }) => when(!isNodeWanted(pod, state.node), "node(s) didn't match Pod's node affinity/selector"),
  ({ pod, state }) => when(!hasFreePorts(pod, state.pods), "node(s) didn't have free ports for the requested pod ports"),
  ({ requests, state }) => shortages(requests, state),
  ({ pod, state, nodes }) => when(!meetsAffinity(pod, state.node, nodes), "node(s) didn't match pod affinity rules"),
  ({ pod, state, nodes }) => when(!meetsAntiAffinity(pod, state.node, nodes), "node(s) didn't match pod anti-affinity rules"),
  ({ pod, state, nodes }) => when(!isAcceptedByOthers(pod, state.node, nodes), "node(s) didn't satisfy existing pods anti-affinity rules"),
];

function objectionsTo(candidate: Candidate): readonly string[] {
  for (const filter of FILTERS) {
    const objections = filter(candidate);
    if (objections.length > 0) return objections;
  }
  return [];
}

function when(isRefused: boolean, reason: string): readonly string[] {
  return isRefused ? [reason] : [];
}

function shortages(requests: ResourceList, { node, used }: NodeState): readonly string[] {
  const allocatable = resourceList(node.status?.allocatable);
  const lacking = Object.keys(requests).filter((name) => {
    const wanted = requests[name] ?? 0;
    // A hair's breadth of slack: 0.1 cores three times is not 0.3 in floating point.
    return wanted > 0 && (used[name] ?? 0) + wanted > (allocatable[name] ?? 0) + 1e-6;
  });
  return lacking.sort().map((name) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`));
}

function hasFreePorts(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return true;
  const taken = others.flatMap(hostPortsOf);
  return !wanted.some((port) => taken.some((other) => isSamePort(port, other)));
}

function hostPortsOf({ spec }: Pod): ContainerPort[] {
  return spec.containers.flatMap(({ ports = [] }) => ports).filter(({ hostPort }) => hostPort !== undefined && hostPort > 0);
}

function isSamePort(a: ContainerPort, b: ContainerPort): boolean {
  const isAny = (address = '') => address === '' || address === '0.0.0.0';
  const isSameAddress = isAny(a.hostIP) || isAny(b.hostIP) || a.hostIP === b.hostIP;
  return a.hostPort === b.hostPort && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP') && isSameAddress;
}

function byFitness(pod: Pod, requests: ResourceList): (a: NodeState, b: NodeState) => number {
  return (a, b) =>
    dislikedTaints(pod, a.node) - dislikedTaints(pod, b.node) ||
    preferenceFor(pod, b.node) - preferenceFor(pod, a.node) ||
    loadWith(requests, a) - loadWith(requests, b) ||
    a.pods.length - b.pods.length ||
    (nameOf(a.node) < nameOf(b.node) ? -1 : 1);
}

function nameOf(node: Node): string {
  return node.metadata.name;
}

/** The mean of how full processors and memory would be. */
function loadWith(requests: ResourceList, { node, used }: NodeState): number {
  const allocatable = resourceList(node.status?.allocatable);
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

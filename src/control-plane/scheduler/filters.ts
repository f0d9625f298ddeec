/** What a node must have for a Pod to go there. */

import { isNodeWanted } from '../../api/core/node-affinity.ts';
import { type ContainerPort, type Pod, priorityOf } from '../../api/core/pod.ts';
import { type ResourceList, requestsOf, totalOf } from '../../api/core/pod-resources.ts';
import { isReady, NOT_READY, tolerates, UNSCHEDULABLE, untoleratedTaint } from '../../api/core/taints.ts';
import type { ClusterView, NodeState } from './cluster-view.ts';
import { areFree, hostPortsOf } from './host-ports.ts';
import { type AffinityCheck, affinityCheck } from './pod-affinity.ts';
import { type SpreadCheck, spreadCheck } from './topology-spread.ts';

/** A Pod and what it wants, worked out once for all nodes. */
export type Wishes = {
  readonly pod: Pod;
  readonly requests: ResourceList;
  readonly ports: readonly ContainerPort[];
  readonly affinity: AffinityCheck;
  readonly spread: SpreadCheck;
  /** What is kept on a node for others, who are at least as important. */
  readonly reserved: (nodeName: string) => ResourceList | undefined;
};

export function wishesOf(pod: Pod, cluster: ClusterView): Wishes {
  return {
    pod,
    requests: requestsOf(pod),
    ports: hostPortsOf(pod),
    affinity: affinityCheck(pod, cluster),
    spread: spreadCheck(pod, cluster),
    reserved: reservedFor(pod, cluster),
  };
}

/** The same, for a cluster that has changed since. */
export function wishesAgain(wishes: Wishes, cluster: ClusterView): Wishes {
  const { pod } = wishes;
  return { ...wishes, affinity: affinityCheck(pod, cluster), spread: spreadCheck(pod, cluster), reserved: reservedFor(pod, cluster) };
}

/** Nearly always nobody has room made for it, and then this costs nothing. */
function reservedFor(pod: Pod, { nominated }: ClusterView): Wishes['reserved'] {
  if (nominated.size === 0) return () => undefined;
  const byNode = new Map<string, ResourceList>();
  for (const [uid, other] of nominated) {
    if (uid === pod.metadata.uid || priorityOf(other.pod) < priorityOf(pod)) continue;
    byNode.set(other.nodeName, totalOf([byNode.get(other.nodeName) ?? {}, other.requests]));
  }
  return (nodeName) => byNode.get(nodeName);
}

type Filter = (wishes: Wishes, state: NodeState) => readonly string[];

/** Cheap ones first: Pods elsewhere are looked at only for a node that has passed everything else. */
const FILTERS: readonly Filter[] = [
  ({ pod }, { node }) => when(node.spec?.unschedulable === true && !tolerates(pod, UNSCHEDULABLE), 'node(s) were unschedulable'),
  ({ pod }, { node }) => when(!isReady(node) && !tolerates(pod, NOT_READY), 'node(s) were not ready'),
  ({ pod }, { node }) => {
    const taint = untoleratedTaint(pod, node);
    return when(taint !== undefined, `node(s) had untolerated taint {${taint?.key}: ${taint?.value ?? ''}}`);
  },
  ({ pod }, { node }) => when(!isNodeWanted(pod, node), "node(s) didn't match Pod's node affinity/selector"),
  ({ ports }, { pods }) => when(!areFree(ports, pods.values()), "node(s) didn't have free ports for the requested pod ports"),
  ({ requests, reserved }, state) => shortages(requests, state, reserved(state.node.metadata.name)),
  ({ affinity }, { node }) => {
    const objection = affinity(node);
    return objection === undefined ? NONE : [objection];
  },
  ({ spread }, { node }) => {
    const objection = spread.objection(node);
    return objection === undefined ? NONE : [objection];
  },
];

/** Why the Pod cannot go there: what the first filter says that the node fails. */
export function objectionsTo(wishes: Wishes, state: NodeState): readonly string[] {
  for (const filter of FILTERS) {
    const objections = filter(wishes, state);
    if (objections.length > 0) return objections;
  }
  return NONE;
}

const NONE: readonly string[] = [];

function when(isRefused: boolean, reason: string): readonly string[] {
  return isRefused ? [reason] : NONE;
}

function shortages(requests: ResourceList, { allocatable, used }: NodeState, reserved: ResourceList = {}): readonly string[] {
  const lacking = Object.keys(requests).filter((name) => {
    const wanted = requests[name] ?? 0;
    // A hair's breadth of slack: 0.1 cores three times is not 0.3 in floating point.
    return wanted > 0 && (used[name] ?? 0) + (reserved[name] ?? 0) + wanted > (allocatable[name] ?? 0) + 1e-6;
  });
  return lacking.sort().map((name) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`));
}

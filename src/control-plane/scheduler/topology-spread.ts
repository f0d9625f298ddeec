/**
 * topologySpreadConstraints: how evenly Pods that are alike are spread over nodes, racks or whatever a label of nodes stands for. As with affinities,
 * Pods that are there are walked once, and only for a Pod that has such rules; each node is then a matter of looking up its labels.
 */
import type { Node } from '../../api/core/node.ts';
import { isNodeWanted } from '../../api/core/node-affinity.ts';
import type { Pod, TopologySpreadConstraint } from '../../api/core/pod.ts';
import { untoleratedTaint } from '../../api/core/taints.ts';
import { isDeleting } from '../../api/meta.ts';
import { matchesLabels, type Requirement, requirementsOf } from '../../base/selectors.ts';
import type { ClusterView } from './cluster-view.ts';

export type SpreadCheck = {
  /** What keeps the Pod off this node, or nothing. */
  readonly objection: (node: Node) => string | undefined;
  /** By how much the Pod would be spread worse there than a constraint asks that it is only rather held to; less is better. */
  readonly unevenness: (node: Node) => number;
};

const NO_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)";
const UNEVEN = "node(s) didn't match pod topology spread constraints";

/** Whether Pods elsewhere than on a node decide if this one may go there. */
export function hasSpread(pod: Pod): boolean {
  return (pod.spec.topologySpreadConstraints ?? []).length > 0;
}

/** The check for one Pod, to be asked for every node. */
export function spreadCheck(pod: Pod, cluster: ClusterView): SpreadCheck {
  let counted: readonly Counted[] | undefined; // made when a node has passed everything else
  const all = () => {
    counted ??= (pod.spec.topologySpreadConstraints ?? []).map((constraint) => count(pod, constraint, cluster));
    return counted;
  };
  return {
    objection: (node) => {
      for (const { constraint, ...counts } of all()) {
        if (constraint.whenUnsatisfiable === 'ScheduleAnyway') continue;
        const skew = skewOn(node, constraint, counts);
        if (skew === undefined) return NO_LABEL;
        if (skew > constraint.maxSkew) return UNEVEN;
      }
      return undefined;
    },
    unevenness: (node) => {
      let sum = 0;
      for (const { constraint, ...counts } of all())
        if (constraint.whenUnsatisfiable === 'ScheduleAnyway') sum += skewOn(node, constraint, counts) ?? Number.MAX_SAFE_INTEGER;
      return sum;
    },
  };
}

type Counts = { readonly byTopology: ReadonlyMap<string, number>; readonly least: number; readonly self: number };
type Counted = Counts & { readonly constraint: TopologySpreadConstraint };

/** How many more there would be in the topology of the node than where there are fewest. */
function skewOn(node: Node, { topologyKey }: TopologySpreadConstraint, { byTopology, least, self }: Counts): number | undefined {
  const topology = node.metadata.labels?.[topologyKey];
  return topology === undefined ? undefined : (byTopology.get(topology) ?? 0) + self - least;
}

function count(pod: Pod, constraint: TopologySpreadConstraint, { nodes }: ClusterView): Counted {
  const requirements = requirementsFor(pod, constraint);
  const isMeant = ({ metadata }: Pod) => metadata.namespace === pod.metadata.namespace && matchesLabels(requirements, metadata.labels);
  const byTopology = new Map<string, number>();
  for (const { node, pods } of nodes.values()) {
    const topology = node.metadata.labels?.[constraint.topologyKey];
    if (topology === undefined || !isCounted(pod, node, constraint)) continue;
    let there = byTopology.get(topology) ?? 0;
    for (const other of pods.values()) if (isMeant(other) && !isDeleting(other)) there += 1;
    byTopology.set(topology, there);
  }
  const isFew = byTopology.size < (constraint.minDomains ?? 1);
  const least = isFew ? 0 : byTopology.values().reduce((a, b) => Math.min(a, b));
  return { constraint, byTopology, least, self: isMeant(pod) ? 1 : 0 };
}

/** Nodes that the Pod could never go to do not count, unless it is said that they do; tainted ones only when that is said. */
function isCounted(pod: Pod, node: Node, { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' }: TopologySpreadConstraint): boolean {
  if (nodeAffinityPolicy === 'Honor' && !isNodeWanted(pod, node)) return false;
  return nodeTaintsPolicy === 'Ignore' || untoleratedTaint(pod, node) === undefined;
}

/** Pods of the selector that also have the same values for these keys: those of one revision of a Deployment, for instance. */
function requirementsFor(pod: Pod, { labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint): readonly Requirement[] {
  if (!labelSelector) return [{ key: '', operator: 'Exists', values: [] }]; // means none
  const same = matchLabelKeys.flatMap((key): Requirement[] => {
    const value = pod.metadata.labels?.[key];
    return value === undefined ? [] : [{ key, operator: 'In', values: [value] }];
  });
  return [...requirementsOf(labelSelector), ...same];
}

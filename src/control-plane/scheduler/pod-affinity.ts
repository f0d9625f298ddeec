/** Rules about which Pods may share a node, a rack or whatever a label of nodes stands for. */
import type { PodAffinityTerm } from '../../api/core/affinity.ts';
import type { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import { affinityOf } from './node-affinity.ts';

/** A node and the Pods that are on it. */
export type Placement = { readonly node: Node; readonly pods: readonly Pod[] };

/** Each required affinity finds a Pod it wants in the topology of this node, or the Pod is the first of its own kind. */
export function meetsAffinity(pod: Pod, node: Node, placements: readonly Placement[]): boolean {
  return required(pod, 'podAffinity').every((term) => {
    if (topologyOf(node, term) === undefined) return false;
    if (hasNeighbour({ term, of: pod, node, placements })) return true;
    const isAnywhere = placements.some(({ pods }) => pods.some((other) => isMeant(term, pod, other)));
    return !isAnywhere && isMeant(term, pod, pod);
  });
}

/** None of its required anti-affinities finds a Pod in the topology of this node. */
export function meetsAntiAffinity(pod: Pod, node: Node, placements: readonly Placement[]): boolean {
  return !required(pod, 'podAntiAffinity').some((term) => hasNeighbour({ term, of: pod, node, placements }));
}

/** Nobody who is already in the topology of this node has an anti-affinity to this Pod. */
export function isAcceptedByOthers(pod: Pod, node: Node, placements: readonly Placement[]): boolean {
  return !placements.some((there) =>
    there.pods.some((other) =>
      required(other, 'podAntiAffinity').some((term) => isSameTopology(term, node, there.node) && isMeant(term, other, pod)),
    ),
  );
}

function required(pod: Pod, rule: 'podAffinity' | 'podAntiAffinity'): readonly PodAffinityTerm[] {
  return affinityOf(pod)[rule]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

type Search = { readonly term: PodAffinityTerm; readonly of: Pod; readonly node: Node; readonly placements: readonly Placement[] };

function hasNeighbour({ term, of, node, placements }: Search): boolean {
  return placements.some((there) => isSameTopology(term, node, there.node) && there.pods.some((other) => isMeant(term, of, other)));
}

function isSameTopology(term: PodAffinityTerm, a: Node, b: Node): boolean {
  const value = topologyOf(a, term);
  return value !== undefined && value === topologyOf(b, term);
}

function topologyOf(node: Node, { topologyKey }: PodAffinityTerm): string | undefined {
  return node.metadata.labels?.[topologyKey];
}

/**
 * A term without a label selector means no Pod; without namespaces, those of its owner's namespace. Any
 * namespaceSelector is taken for all namespaces, because their labels are not looked at here.
 */
function isMeant({ labelSelector, namespaces = [], namespaceSelector }: PodAffinityTerm, owner: Pod, other: Pod): boolean {
  if (!labelSelector) return false;
  const own = namespaces.length === 0 && !namespaceSelector;
  const isInNamespace = own ? other.metadata.namespace === owner.metadata.namespace : namespaces.includes(other.metadata.namespace ?? '');
  return (isInNamespace || namespaceSelector !== undefined) && matchesLabels(requirementsOf(labelSelector), other.metadata.labels);
}

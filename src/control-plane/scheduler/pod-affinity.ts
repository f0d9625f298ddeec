/**
 * Rules about which Pods may share a node, a rack or whatever a label of nodes stands for. The Pods that are there are walked once, and
 * only for a Pod that has such rules or among those that have them; each node is then a matter of looking up its labels.
 */
import type { PodAffinityTerm } from '../../api/core/affinity.ts';
import type { Node } from '../../api/core/node.ts';
import { affinityOf } from '../../api/core/node-affinity.ts';
import type { Pod } from '../../api/core/pod.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import type { ClusterView } from './cluster-view.ts';

/** What keeps the Pod off this node, or nothing. */
export type AffinityCheck = (node: Node) => string | undefined;

/** The check for one Pod, to be asked for every node. */
export function affinityCheck(pod: Pod, cluster: ClusterView): AffinityCheck {
  let rules: readonly Rule[] | undefined; // made when a node has passed everything else
  return (node) => {
    rules ??= [...affinityRules(pod, cluster), ...antiAffinityRules(pod, cluster), ...rulesOfOthers(pod, cluster)];
    return rules.find(({ isMet }) => !isMet(node))?.objection;
  };
}

export function requiredAntiAffinity(pod: Pod): readonly PodAffinityTerm[] {
  return affinityOf(pod).podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

/** Whether Pods elsewhere than on a node decide if this one may go there. */
export function hasPodAffinity(pod: Pod): boolean {
  return requiredAffinity(pod).length > 0 || requiredAntiAffinity(pod).length > 0;
}

function requiredAffinity(pod: Pod): readonly PodAffinityTerm[] {
  return affinityOf(pod).podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

type Rule = { readonly objection: string; readonly isMet: (node: Node) => boolean };

/** Each required affinity finds a Pod it wants in the topology of the node, or the Pod is the first of its own kind. */
function affinityRules(pod: Pod, cluster: ClusterView): Rule[] {
  return requiredAffinity(pod).map((term) => {
    const { topologies, isAnywhere } = whereMeant(term, pod, cluster);
    const isFirst = !isAnywhere && meaningOf(term, pod)(pod);
    const isMet = (node: Node) => {
      const topology = topologyOf(node, term);
      return topology !== undefined && (isFirst || topologies.has(topology));
    };
    return { objection: "node(s) didn't match pod affinity rules", isMet };
  });
}

/** None of its required anti-affinities finds a Pod in the topology of the node. */
function antiAffinityRules(pod: Pod, cluster: ClusterView): Rule[] {
  return requiredAntiAffinity(pod).map((term) => {
    const { topologies } = whereMeant(term, pod, cluster);
    return { objection: "node(s) didn't match pod anti-affinity rules", isMet: isOutside(term, topologies) };
  });
}

/** Nobody of its namespace who is already in the topology of the node has an anti-affinity to this Pod: who may make Pods in one namespace keeps those of others from no node. */
function rulesOfOthers(pod: Pod, { nodes, repelling }: ClusterView): Rule[] {
  const taken = new Map<string, Set<string>>();
  for (const { pod: other, nodeName } of repelling.values()) {
    if (other.metadata.namespace !== pod.metadata.namespace) continue;
    for (const term of requiredAntiAffinity(other)) {
      const topology = topologyOf(nodes.get(nodeName)?.node, term);
      if (topology === undefined || !meaningOf(term, other)(pod)) continue;
      taken.set(term.topologyKey, (taken.get(term.topologyKey) ?? new Set()).add(topology));
    }
  }
  return [...taken].map(([topologyKey, topologies]) => ({
    objection: "node(s) didn't satisfy existing pods anti-affinity rules",
    isMet: isOutside({ topologyKey }, topologies),
  }));
}

function isOutside(term: Pick<PodAffinityTerm, 'topologyKey'>, topologies: ReadonlySet<string>): (node: Node) => boolean {
  return (node) => {
    const topology = topologyOf(node, term);
    return topology === undefined || !topologies.has(topology);
  };
}

/** In which topologies there are Pods that a term of `owner` means. */
function whereMeant(term: PodAffinityTerm, owner: Pod, { nodes }: ClusterView): { topologies: ReadonlySet<string>; isAnywhere: boolean } {
  const isMeant = meaningOf(term, owner);
  const topologies = new Set<string>();
  let isAnywhere = false;
  for (const { node, pods } of nodes.values()) {
    const topology = topologyOf(node, term);
    if (topology === undefined ? isAnywhere : topologies.has(topology)) continue;
    if (!pods.values().some(isMeant)) continue;
    isAnywhere = true;
    if (topology !== undefined) topologies.add(topology);
  }
  return { topologies, isAnywhere };
}

function topologyOf(node: Node | undefined, { topologyKey }: Pick<PodAffinityTerm, 'topologyKey'>): string | undefined {
  return node?.metadata.labels?.[topologyKey];
}

/**
 * Which Pods a term means. Without a label selector it means none; without namespaces, those of its owner's namespace. Any
 * namespaceSelector is taken for all namespaces, because their labels are not looked at here.
 */
function meaningOf({ labelSelector, namespaces = [], namespaceSelector }: PodAffinityTerm, owner: Pod): (other: Pod) => boolean {
  if (!labelSelector) return () => false;
  const requirements = requirementsOf(labelSelector);
  const wanted = namespaces.length > 0 ? namespaces : [owner.metadata.namespace ?? ''];
  return ({ metadata: { namespace = '', labels } }) =>
    (namespaceSelector !== undefined || wanted.includes(namespace)) && matchesLabels(requirements, labels);
}

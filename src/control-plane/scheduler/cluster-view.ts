/** What the scheduler sees of the cluster: everything by its name, nothing to search through. */
import type { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { ResourceList } from '../../api/core/pod-resources.ts';

/** A node, the Pods that hold a place on it by their uid, and what they ask for together. */
export type NodeState = {
  readonly node: Node;
  readonly allocatable: ResourceList;
  readonly pods: ReadonlyMap<string, Pod>;
  readonly used: ResourceList;
};

/** A Pod and the name of the node on which it holds a place. */
export type PlacedPod = { readonly pod: Pod; readonly nodeName: string };

/** A Pod for which room is being made on a node. */
export type NominatedPod = PlacedPod & { readonly requests: ResourceList };

/** Nodes by name, and of the Pods on them those that keep others away, by uid. A view: it changes with the next change. */
export type ClusterView = {
  readonly nodes: ReadonlyMap<string, NodeState>;
  readonly repelling: ReadonlyMap<string, PlacedPod>;
  /** By uid. */
  readonly nominated: ReadonlyMap<string, NominatedPod>;
  /** How many Pods of which priority have a place. */
  readonly priorities: ReadonlyMap<number, number>;
};

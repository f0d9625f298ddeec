/**
 * Who is where, kept from one change to the next: what a scheduler looks at for every Pod, and must not count again for every Pod.
 * A Pod holds a place on one node, whether it is there or believed to be on its way.
 */
import type { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { type ResourceList, requestsOf, resourceList } from '../../api/core/pod-resources.ts';
import type { ClusterView, NodeState, PlacedPod } from './cluster-view.ts';
import { requiredAntiAffinity } from './pod-affinity.ts';

type Places = { readonly pods: Map<string, Pod>; readonly usage: Usage };
type Placed = PlacedPod & { readonly requests: ResourceList };

export class ClusterState implements ClusterView {
  readonly #nodes = new Map<string, NodeState>();
  /** Also for names of which no node is known: its Pods may be seen before it is. */
  readonly #places = new Map<string, Places>();
  readonly #placed = new Map<string, Placed>();
  readonly #repelling = new Map<string, PlacedPod>();

  get nodes(): ReadonlyMap<string, NodeState> {
    return this.#nodes;
  }

  get repelling(): ReadonlyMap<string, PlacedPod> {
    return this.#repelling;
  }

  setNode(node: Node): void {
    const { name } = node.metadata;
    const { pods, usage } = this.#placesOn(name);
    this.#nodes.set(name, { node, allocatable: resourceList(node.status?.allocatable), pods, used: usage.used });
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
  }

  /** Gives the Pod a place, instead of the one that it may have had. */
  place(pod: Pod, nodeName: string): void {
    const uid = uidOf(pod);
    this.leave(pod);
    const placed = { pod, nodeName, requests: requestsOf(pod) };
    const { pods, usage } = this.#placesOn(nodeName);
    pods.set(uid, pod);
    usage.add(placed.requests);
    this.#placed.set(uid, placed);
    if (requiredAntiAffinity(pod).length > 0) this.#repelling.set(uid, placed);
  }

  /** Gives its place free; returns what it was. */
  leave(pod: Pod): PlacedPod | undefined {
    const uid = uidOf(pod);
    const placed = this.#placed.get(uid);
    if (!placed) return undefined;
    const { pods, usage } = this.#placesOn(placed.nodeName);
    pods.delete(uid);
    usage.subtract(placed.requests);
    this.#placed.delete(uid);
    this.#repelling.delete(uid);
    if (pods.size === 0 && !this.#nodes.has(placed.nodeName)) this.#places.delete(placed.nodeName);
    return placed;
  }

  #placesOn(nodeName: string): Places {
    const known = this.#places.get(nodeName) ?? { pods: new Map(), usage: new Usage() };
    this.#places.set(nodeName, known);
    return known;
  }
}

function uidOf(pod: Pod): string {
  return pod.metadata.uid ?? '';
}

/**
 * A sum to which the same amount can be added and taken off again without a trace: it is counted in whole thousandths, the smallest part
 * of a processor that can be asked for, because fractions leave a remainder.
 */
class Usage {
  readonly #thousandths = new Map<string, number>();
  readonly used: Record<string, number> = {};

  add(amounts: ResourceList): void {
    for (const name in amounts) this.#change(name, thousandthsOf(amounts[name]));
  }

  subtract(amounts: ResourceList): void {
    for (const name in amounts) this.#change(name, -thousandthsOf(amounts[name]));
  }

  #change(name: string, by: number): void {
    const sum = (this.#thousandths.get(name) ?? 0) + by;
    this.#thousandths.set(name, sum);
    this.used[name] = sum / 1000;
  }
}

/** Less than a thousandth is rounded up, as everywhere in Kubernetes. */
function thousandthsOf(amount = 0): number {
  return Math.ceil(amount * 1000 - 1e-6);
}

/**
 * Who is where, kept from one change to the next: what a scheduler looks at for every Pod, and must not count again for every Pod.
 * A Pod holds a place on one node, whether it is there or believed to be on its way.
 */
import type { Node } from '../../api/core/node.ts';
import { type Pod, priorityOf } from '../../api/core/pod.ts';
import { type ResourceList, requestsOf, resourceList } from '../../api/core/pod-resources.ts';
import type { ClusterView, NodeState, NominatedPod, PlacedPod } from './cluster-view.ts';
import { requiredAntiAffinity } from './pod-affinity.ts';

type Places = { readonly pods: Map<string, Pod>; readonly usage: Usage };
type Placed = PlacedPod & { readonly requests: ResourceList };

export class ClusterState implements ClusterView {
  readonly #nodes = new Map<string, NodeState>();
  /** Also for names of which no node is known: its Pods may be seen before it is. */
  readonly #places = new Map<string, Places>();
  readonly #placed = new Map<string, Placed>();
  readonly #repelling = new Map<string, PlacedPod>();
  readonly #nominated = new Map<string, NominatedPod>();
  readonly #priorities = new Map<number, number>();

  get nodes(): ReadonlyMap<string, NodeState> {
    return this.#nodes;
  }

  get repelling(): ReadonlyMap<string, PlacedPod> {
    return this.#repelling;
  }

  get nominated(): ReadonlyMap<string, NominatedPod> {
    return this.#nominated;
  }

  get priorities(): ReadonlyMap<number, number> {
    return this.#priorities;
  }

  /** Room is being made for the Pod on a node, or no longer; returns where it was. */
  nominate(pod: Pod, nodeName: string | undefined): string | undefined {
    const before = this.#nominated.get(uidOf(pod))?.nodeName;
    this.#nominated.delete(uidOf(pod));
    if (nodeName) this.#nominated.set(uidOf(pod), { pod, nodeName, requests: requestsOf(pod) });
    return before;
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
    this.#count(pod, 1);
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
    this.#count(placed.pod, -1);
    this.#repelling.delete(uid);
    if (pods.size === 0 && !this.#nodes.has(placed.nodeName)) this.#places.delete(placed.nodeName);
    return placed;
  }

  #count(pod: Pod, by: number): void {
    const count = (this.#priorities.get(priorityOf(pod)) ?? 0) + by;
    if (count === 0) this.#priorities.delete(priorityOf(pod));
    else this.#priorities.set(priorityOf(pod), count);
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

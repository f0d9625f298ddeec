/**
 * The Pods for which no node was found, the most important first, and of these the longest waiting. When there is room on a node again, as many of them are woken as it has room
 * for, and no more: each of a thousand that look for nothing looks at every node.
 */
import { type Pod, priorityOf } from '../../api/core/pod.ts';
import { type ResourceList, totalOf } from '../../api/core/pod-resources.ts';
import { keyOf } from '../../api/meta.ts';
import type { ClusterView, NodeState } from './cluster-view.ts';
import { objectionsTo, type Wishes, wishesAgain, wishesOf } from './filters.ts';
import { hasPodAffinity } from './pod-affinity.ts';
import { hasSpread } from './topology-spread.ts';

type Woken = { readonly nodeName: string; readonly requests: ResourceList };

export type WaitingPodsOptions = { readonly cluster: ClusterView; readonly wake: (key: string) => void };

export class WaitingPods {
  readonly #pods = new Map<string, Wishes>();
  /** The same by their priority, of which there are few. */
  readonly #byPriority = new Map<number, Set<string>>();
  /** Those among them for which more counts than the node they would go to. */
  readonly #withAffinity = new Set<string>();
  /** Who was woken for room on a node and has not looked yet: that room is as good as taken. */
  readonly #woken = new Map<string, Woken>();
  readonly #cluster: ClusterView;
  readonly #wake: (key: string) => void;

  constructor({ cluster, wake }: WaitingPodsOptions) {
    this.#cluster = cluster;
    this.#wake = wake;
  }

  add(pod: Pod): void {
    const key = keyOf(pod.metadata);
    this.#drop(key);
    this.#pods.set(key, wishesOf(pod, this.#cluster));
    const equals = this.#byPriority.get(priorityOf(pod)) ?? new Set();
    this.#byPriority.set(priorityOf(pod), equals.add(key));
    if (hasPodAffinity(pod) || hasSpread(pod)) this.#withAffinity.add(key);
  }

  /** It looks again now, or is gone. Returns the node for which it was woken, if it was. */
  remove(key: string): string | undefined {
    const woken = this.#woken.get(key);
    this.#drop(key);
    this.#withAffinity.delete(key);
    this.#woken.delete(key);
    return woken?.nodeName;
  }

  /** Wakes those who would be accepted on this node now, as long as there is room for one more. */
  wakeForNode(nodeName: string): void {
    const there = this.#cluster.nodes.get(nodeName);
    if (!there || this.#pods.size === this.#woken.size) return;
    let state = withUsed(there, this.#promisedOn(nodeName));
    for (const [key, wishes] of this.#inOrder()) {
      if (isFull(state)) return;
      if (this.#woken.has(key) || this.#isRefused(wishes, state)) continue;
      const { requests } = wishes;
      this.#woken.set(key, { nodeName, requests });
      state = withUsed(state, [requests]);
      this.#wake(key);
    }
  }

  /** Wakes those for whom Pods or labels of other nodes count: any change may be the one that helps. */
  wakeWithAffinity(): void {
    for (const key of this.#withAffinity) this.#wake(key);
  }

  wakeAll(): void {
    for (const key of this.#pods.keys()) this.#wake(key);
  }

  *#inOrder(): Generator<readonly [string, Wishes]> {
    for (const priority of [...this.#byPriority.keys()].sort((a, b) => b - a)) {
      for (const key of this.#byPriority.get(priority) ?? []) {
        const wishes = this.#pods.get(key);
        if (wishes) yield [key, wishes];
      }
    }
  }

  #drop(key: string): void {
    const known = this.#pods.get(key);
    if (!known) return;
    const equals = this.#byPriority.get(priorityOf(known.pod));
    equals?.delete(key);
    if (equals?.size === 0) this.#byPriority.delete(priorityOf(known.pod));
    this.#pods.delete(key);
  }

  /** Where other Pods are has changed since it was refused, what it wants has not. */
  #isRefused(wishes: Wishes, state: NodeState): boolean {
    return objectionsTo(wishesAgain(wishes, this.#cluster), state).length > 0;
  }

  #promisedOn(nodeName: string): ResourceList[] {
    return [...this.#woken.values()].filter((woken) => woken.nodeName === nodeName).map(({ requests }) => requests);
  }
}

function withUsed(state: NodeState, more: readonly ResourceList[]): NodeState {
  return { ...state, used: totalOf([state.used, ...more]) };
}

/** Every Pod takes one of these, whatever else it asks for. */
function isFull({ allocatable, used }: NodeState): boolean {
  return (used['pods'] ?? 0) >= (allocatable['pods'] ?? 0);
}

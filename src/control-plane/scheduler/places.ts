/** Keeps up with who is where, who is believed to be on the way, and who waits; wakes those whom a change may help. */
import type { Node } from '../../api/core/node.ts';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { isReady } from '../../api/core/taints.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { deepEqual } from '../../base/json.ts';
import type { Change } from '../../client/cache.ts';
import { WakeUps } from '../../reconcile/source.ts';
import { Assumptions } from './assumptions.ts';
import { ClusterState } from './cluster-state.ts';
import type { ClusterView } from './cluster-view.ts';
import { needsNode } from './decide.ts';
import { requiredAntiAffinity } from './pod-affinity.ts';
import { WaitingPods } from './waiting-pods.ts';

export class Places {
  /** Tells of waiting Pods that may find a node now. */
  readonly roomFor = new WakeUps();
  readonly #state = new ClusterState();
  readonly #assumptions: Assumptions;
  readonly #waiting = new WaitingPods({ cluster: this.#state, wake: (key) => this.roomFor.wake(key) });
  /** For which node the Pod that looks now was woken. */
  #wokenFor: string | undefined;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#assumptions = new Assumptions(clock);
  }

  get cluster(): ClusterView {
    return this.#state;
  }

  nodeChanged(change: Change<Node>): void {
    const { name } = change.object.metadata;
    if (change.type === 'deleted') {
      this.#state.removeNode(name);
      return;
    }
    this.#state.setNode(change.object);
    if (change.type === 'modified' && !looksDifferent(change.old, change.object)) return;
    this.#waiting.wakeForNode(name);
    this.#waiting.wakeWithAffinity();
  }

  podChanged({ type, key, object: pod }: Change<Pod>): void {
    const isLeaving = type === 'deleted' || isPodFinal(pod);
    if (isLeaving || pod.spec.nodeName) this.#assumptions.forget(pod);
    if (isLeaving) this.#leave(pod);
    else if (pod.spec.nodeName) this.#state.place(pod, pod.spec.nodeName);
    this.#nominate(pod, type !== 'deleted' && needsNode(pod) ? pod.status?.nominatedNodeName : undefined);
    if (type === 'deleted' || !needsNode(pod)) this.#passOn(this.#waiting.remove(key));
  }

  /** The Pod is without a node: if it was believed to be on its way to one, that has failed. */
  lookAgain(pod: Pod): void {
    this.#wokenFor = this.#waiting.remove(keyOf(pod.metadata));
    if (this.#assumptions.forget(pod)) this.#state.leave(pod);
    for (const late of this.#assumptions.takeExpired()) this.#leave(late);
  }

  /** The Pod goes to this node, or waits. Room that it was woken for and does not take is the next one's. */
  decided(pod: Pod, nodeName: string | undefined): void {
    if (nodeName === undefined) this.#waiting.add(pod);
    else {
      this.#assumptions.assume(pod);
      this.#state.place(pod, nodeName);
    }
    if (this.#wokenFor !== nodeName) this.#passOn(this.#wokenFor);
    this.#wokenFor = undefined;
  }

  /** Room that nobody is waited for any more is for the others. */
  #nominate(pod: Pod, nodeName: string | undefined): void {
    const before = this.#state.nominate(pod, nodeName);
    if (before !== undefined && before !== nodeName) this.#waiting.wakeForNode(before);
  }

  #passOn(wokenFor: string | undefined): void {
    if (wokenFor !== undefined) this.#waiting.wakeForNode(wokenFor);
  }

  #leave(pod: Pod): void {
    const left = this.#state.leave(pod);
    if (!left) return;
    this.#waiting.wakeForNode(left.nodeName);
    if (requiredAntiAffinity(left.pod).length > 0) this.#waiting.wakeAll();
    else this.#waiting.wakeWithAffinity();
  }
}

/** A node says every few seconds that it is alive, which helps nobody who waits. */
function looksDifferent(old: Node, node: Node): boolean {
  const looks = ({ metadata, spec, status }: Node) => [metadata.labels, spec, status?.allocatable];
  return isReady(old) !== isReady(node) || !deepEqual(looks(old), looks(node));
}

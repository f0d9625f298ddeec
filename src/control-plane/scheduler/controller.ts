/** The scheduler: gives every waiting Pod a node. */
import { NODES } from '../../api/core/node.ts';
import { isPodFinal, PODS, type Pod } from '../../api/core/pod.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { type Cache, startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { Assumptions } from './assumptions.ts';
import { decideBinding, type NodeState, needsNode, type ObservedBinding, SCHEDULER_NAME } from './decide.ts';
import { type ResourceList, requestsOf, totalOf } from './requests.ts';

export type SchedulerOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

/** Runs the scheduler until the signal aborts. */
export function runScheduler({ client, clock, log, signal }: SchedulerOptions): Promise<void> {
  const pods = startCache({ client, resource: PODS, indexes: { node: placeOf, waiting: waitingOf }, clock, log, signal });
  const nodes = startCache({ client, resource: NODES, clock, log, signal });
  const assumptions = new Assumptions({ clock, current: (pod) => pods.get(keyOf(pod.metadata)) });
  const requests = new WeakMap<Pod, ResourceList>();

  function stateOf(node: NodeState['node']): NodeState {
    const there = [...pods.byIndex('node', node.metadata.name), ...assumptions.on(node.metadata.name)];
    return { node, pods: there, used: totalOf(there.map((pod) => remembered(requests, pod))) };
  }

  return runController<ObservedBinding>({
    name: SCHEDULER_NAME,
    client,
    clock,
    log,
    signal,
    triggers: [changesOf(pods, (pod) => concerned(pods, pod)), changesOf(nodes, () => waitingIn(pods))],
    observe: (key) => {
      const pod = pods.get(key);
      if (!pod || !needsNode(pod)) return undefined;
      assumptions.forget(pod); // back here, so its binding failed
      return { pod, nodes: nodes.list().map(stateOf), now: clock.now() };
    },
    decide: (observed) => {
      const decision = decideBinding(observed);
      for (const action of decision.actions) if (action.do === 'bind') assumptions.assume(observed.pod, action.nodeName);
      return decision;
    },
    subject: ({ pod }) => pod,
    workers: 1, // one Pod after the other, so that each sees the room the one before has taken
  });
}

/** A Pod holds its place until it has ended. */
function placeOf(pod: Pod): string[] {
  return pod.spec.nodeName && !isPodFinal(pod) ? [pod.spec.nodeName] : [];
}

function waitingOf(pod: Pod): string[] {
  return needsNode(pod) ? ['yes'] : [];
}

function waitingIn(pods: Cache<Pod>): string[] {
  return pods.byIndex('waiting', 'yes').map(({ metadata }) => keyOf(metadata));
}

/** A waiting Pod concerns itself; one that gives up its place concerns all who wait. */
function concerned(pods: Cache<Pod>, pod: Pod): string[] {
  const key = keyOf(pod.metadata);
  if (needsNode(pod)) return [key];
  const isLeaving = isPodFinal(pod) || pods.get(key)?.metadata.uid !== pod.metadata.uid;
  return pod.spec.nodeName && isLeaving ? waitingIn(pods) : [];
}

function remembered(requests: WeakMap<Pod, ResourceList>, pod: Pod): ResourceList {
  const known = requests.get(pod) ?? requestsOf(pod);
  requests.set(pod, known);
  return known;
}

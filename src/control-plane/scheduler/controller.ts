/** The scheduler: gives every waiting Pod a node. */
import { NODES } from '../../api/core/node.ts';
import { PODS, priorityOf } from '../../api/core/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../api/core/pod-disruption-budget.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideBinding, needsNode, type ObservedBinding, SCHEDULER_NAME } from './decide.ts';
import { Places } from './places.ts';

export type SchedulerOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

/** Runs the scheduler until the signal aborts. */
export function runScheduler({ client, clock, log, signal }: SchedulerOptions): Promise<void> {
  const pods = startCache({ client, resource: PODS, clock, log, signal });
  const nodes = startCache({ client, resource: NODES, clock, log, signal });
  const budgets = startCache({ client, resource: POD_DISRUPTION_BUDGETS, clock, log, signal });
  const places = new Places({ clock });
  nodes.subscribe((change) => places.nodeChanged(change));
  pods.subscribe((change) => places.podChanged(change));

  return runController<ObservedBinding>({
    name: SCHEDULER_NAME,
    client,
    clock,
    log,
    signal,
    triggers: [
      changesOf(pods, (pod) => (needsNode(pod) ? [keyOf(pod.metadata)] : [])),
      changesOf(nodes, () => []), // must be there; whom a change helps, the next one knows
      changesOf(budgets, () => []), // as above
      places.roomFor,
    ],
    observe: (key) => {
      const pod = pods.get(key);
      if (!pod || !needsNode(pod)) return undefined;
      places.lookAgain(pod);
      return { pod, cluster: places.cluster, budgets: () => budgets.list(), now: clock.now() };
    },
    decide: (observed) => {
      const decision = decideBinding(observed);
      const binding = decision.actions.find((action) => action.do === 'bind');
      places.decided(observed.pod, binding?.nodeName);
      return decision;
    },
    subject: ({ pod }) => pod,
    rankOf: (key) => {
      const pod = pods.get(key);
      return pod ? priorityOf(pod) : 0;
    },
    workers: 1, // one Pod after the other, so that each sees the room the one before has taken
  });
}

/** Keeps a Pod of every DaemonSet on every node that takes it. */
import { DAEMON_SETS } from '../../../api/core/daemon-set.ts';
import { keyOf } from '../../../api/meta.ts';
import { runController } from '../../../reconcile/controller.ts';
import { changesOf } from '../../../reconcile/source.ts';
import type { WorkloadCaches, WorkloadOptions } from '../caches.ts';
import { familyOf, ownersOf } from '../candidates.ts';
import { decideDaemonSet } from './decide.ts';
import type { ObservedDaemonSet } from './observed.ts';

/** Runs until the signal aborts. */
export function runDaemonSets(
  options: WorkloadOptions & Pick<WorkloadCaches, 'pods' | 'revisions' | 'nodes' | 'daemonSets'>,
): Promise<void> {
  const { client, clock, pods, revisions, nodes, daemonSets } = options;
  const allSets = () => daemonSets.list().map(({ metadata }) => keyOf(metadata));
  return runController<ObservedDaemonSet>({
    ...options,
    name: 'daemonset-controller',
    triggers: [
      changesOf(daemonSets, ({ metadata }) => [keyOf(metadata)]),
      changesOf(pods, ownersOf(daemonSets)),
      changesOf(revisions, ownersOf(daemonSets)),
      changesOf(nodes, allSets),
    ],
    observe: async (key) => {
      const set = daemonSets.get(key);
      if (!set) return undefined;
      const family = await familyOf({ client, resource: DAEMON_SETS, owner: set, pods, revisions });
      return { set, nodes: nodes.list(), ...family, now: clock.now() };
    },
    decide: decideDaemonSet,
    subject: ({ set }) => set,
  });
}

/** Keeps the numbered Pods of every StatefulSet. */
import { STATEFUL_SETS, type StatefulSet } from '../../../api/core/stateful-set.ts';
import type { PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { keyOf } from '../../../api/meta.ts';
import { runController } from '../../../reconcile/controller.ts';
import { changesOf } from '../../../reconcile/source.ts';
import { BY_NAMESPACE, type WorkloadCaches, type WorkloadOptions } from '../caches.ts';
import { familyOf, ownersOf } from '../candidates.ts';
import { decideStatefulSet } from './decide.ts';
import { isClaimOf } from './numbered-pod.ts';
import type { ObservedStatefulSet } from './observed.ts';

/** Runs until the signal aborts. */
export function runStatefulSets(
  options: WorkloadOptions & Pick<WorkloadCaches, 'pods' | 'revisions' | 'claims' | 'statefulSets'>,
): Promise<void> {
  const { client, clock, pods, revisions, claims, statefulSets } = options;
  const setsOf = (claim: PersistentVolumeClaim): StatefulSet[] =>
    statefulSets.byIndex(BY_NAMESPACE, claim.metadata.namespace ?? '').filter((set) => isClaimOf(set, claim));
  return runController<ObservedStatefulSet>({
    ...options,
    name: 'statefulset-controller',
    triggers: [
      changesOf(statefulSets, ({ metadata }) => [keyOf(metadata)]),
      changesOf(pods, ownersOf(statefulSets)),
      changesOf(revisions, ownersOf(statefulSets)),
      changesOf(claims, (claim) => setsOf(claim).map(({ metadata }) => keyOf(metadata))),
    ],
    observe: async (key) => {
      const set = statefulSets.get(key);
      if (!set) return undefined;
      const { taken: _, ...family } = await familyOf({ client, resource: STATEFUL_SETS, owner: set, pods, revisions });
      const near = claims.byIndex(BY_NAMESPACE, set.metadata.namespace ?? '');
      return { set, ...family, claims: near.filter((claim) => isClaimOf(set, claim)), now: clock.now() };
    },
    decide: decideStatefulSet,
    subject: ({ set }) => set,
  });
}

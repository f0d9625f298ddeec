/** Keeps every ReplicaSet at its number of Pods. */
import { PODS } from '../../../api/core/pod.ts';
import { REPLICA_SETS } from '../../../api/core/replica-set.ts';
import { type KubeObject, keyOf } from '../../../api/meta.ts';
import { runController } from '../../../reconcile/controller.ts';
import { ownerKeysOf } from '../../../reconcile/owner.ts';
import { changesOf } from '../../../reconcile/source.ts';
import { rememberWriteErrors } from '../../../reconcile/write-errors.ts';
import type { WorkloadCaches, WorkloadOptions } from '../caches.ts';
import { familyOf, ownersOf } from '../candidates.ts';
import { decideReplicaSet } from './decide.ts';
import type { ObservedReplicaSet } from './observed.ts';

/** Runs until the signal aborts. */
export function runReplicaSets(options: WorkloadOptions & Pick<WorkloadCaches, 'pods' | 'replicaSets'>): Promise<void> {
  const { clock, pods, replicaSets } = options;
  const ownerOf = ownerKeysOf(REPLICA_SETS.kind);
  const setOf = (pod: KubeObject | undefined) => pod && ownerOf(pod)[0];
  const { client, createErrors, deleteErrors } = rememberWriteErrors({
    client: options.client,
    kind: PODS.kind,
    keyOf: setOf,
    keyAt: (at) => setOf(pods.get(keyOf(at))),
  });

  async function observe(key: string): Promise<ObservedReplicaSet | undefined> {
    const set = replicaSets.get(key);
    if (!set) {
      createErrors.forget(key);
      deleteErrors.forget(key);
      return undefined;
    }
    const { revisions: _, ...family } = await familyOf({ client, resource: REPLICA_SETS, owner: set, pods });
    return {
      set,
      ...family,
      createError: createErrors.get(key),
      deleteError: deleteErrors.get(key),
      now: clock.now(),
    };
  }

  return runController<ObservedReplicaSet>({
    ...options,
    client,
    name: 'replicaset-controller',
    triggers: [changesOf(replicaSets, ({ metadata }) => [keyOf(metadata)]), changesOf(pods, ownersOf(replicaSets))],
    observe,
    decide: decideReplicaSet,
    subject: ({ set }) => set,
  });
}

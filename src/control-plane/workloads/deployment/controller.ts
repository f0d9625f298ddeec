/** Rolls out the template of every Deployment through ReplicaSets. */
import { DEPLOYMENTS, type Deployment } from '../../../api/core/deployment.ts';
import { isPodFinal, type Pod } from '../../../api/core/pod.ts';
import { REPLICA_SETS } from '../../../api/core/replica-set.ts';
import { keyOf } from '../../../api/meta.ts';
import { runController } from '../../../reconcile/controller.ts';
import { BY_CONTROLLER, mayAdopt, ownerKeysOf } from '../../../reconcile/owner.ts';
import { changesOf } from '../../../reconcile/source.ts';
import { BY_NAMESPACE, type WorkloadCaches, type WorkloadOptions } from '../caches.ts';
import { isCandidate, ownersOf } from '../candidates.ts';
import { decideDeployment } from './decide.ts';
import type { ObservedDeployment } from './observed.ts';
import { hashOf } from './revisions.ts';

/** Runs until the signal aborts. */
export function runDeployments(options: WorkloadOptions & Pick<WorkloadCaches, 'pods' | 'replicaSets' | 'deployments'>): Promise<void> {
  const { client, clock, pods, replicaSets, deployments } = options;
  const setOf = ownerKeysOf(REPLICA_SETS.kind);
  const deploymentOf = ownerKeysOf(DEPLOYMENTS.kind);
  /** Pods matter only where the old ones have to be gone before new ones come. */
  const recreatedBy = (pod: Pod): string[] =>
    setOf(pod)
      .flatMap((key) => replicaSets.get(key) ?? [])
      .flatMap(deploymentOf)
      .filter((key) => isRecreate(deployments.get(key)));

  async function observe(key: string): Promise<ObservedDeployment | undefined> {
    const deployment = deployments.get(key);
    if (!deployment) return undefined;
    const { namespace = '', name, uid = '' } = deployment.metadata;
    const mine = replicaSets.byIndex(BY_CONTROLLER, uid);
    const orphans = replicaSets.byIndex(BY_NAMESPACE, namespace).filter((set) => isCandidate(deployment, set));
    const [candidate] = orphans;
    const may = candidate !== undefined && (await mayAdopt({ client, resource: DEPLOYMENTS, owner: deployment, object: candidate }));
    const podsOfMine = isRecreate(deployment) ? mine.flatMap((set) => pods.byIndex(BY_CONTROLLER, set.metadata.uid ?? '')) : [];
    return {
      deployment,
      replicaSets: [...mine, ...orphans],
      pods: podsOfMine.filter((pod) => !isPodFinal(pod)),
      holder: replicaSets.get(keyOf({ namespace, name: `${name}-${hashOf(deployment)}` })),
      mayAdopt: may,
      now: clock.now(),
    };
  }

  return runController<ObservedDeployment>({
    ...options,
    name: 'deployment-controller',
    triggers: [
      changesOf(deployments, ({ metadata }) => [keyOf(metadata)]),
      changesOf(replicaSets, ownersOf(deployments)),
      changesOf(pods, recreatedBy),
    ],
    observe,
    decide: decideDeployment,
    subject: ({ deployment }) => deployment,
  });
}

function isRecreate(deployment: Deployment | undefined): boolean {
  return deployment?.spec.strategy?.type === 'Recreate';
}

/** Says of every PodDisruptionBudget how many of its Pods may be evicted. */
import { DEPLOYMENTS } from '../../../api/core/deployment.ts';
import type { Pod } from '../../../api/core/pod.ts';
import type { PodDisruptionBudget } from '../../../api/core/pod-disruption-budget.ts';
import { REPLICA_SETS } from '../../../api/core/replica-set.ts';
import { STATEFUL_SETS } from '../../../api/core/stateful-set.ts';
import { controllerOf, type KubeObject, keyOf } from '../../../api/meta.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { runController } from '../../../reconcile/controller.ts';
import { changesOf } from '../../../reconcile/source.ts';
import { BY_NAMESPACE, type WorkloadCaches, type WorkloadOptions } from '../caches.ts';
import { decideBudget } from './decide.ts';
import type { ObservedBudget, Scale } from './observed.ts';
import { dependsOnScale } from './status.ts';

type Caches = Pick<WorkloadCaches, 'pods' | 'budgets' | 'replicaSets' | 'deployments' | 'statefulSets'>;
type Scaled = KubeObject & { readonly spec: { readonly replicas?: number } };

/** Runs until the signal aborts. */
export function runDisruptionBudgets(options: WorkloadOptions & Caches): Promise<void> {
  const { clock, pods, budgets, replicaSets, deployments, statefulSets } = options;
  const near = ({ metadata }: KubeObject) => budgets.byIndex(BY_NAMESPACE, metadata.namespace ?? '');
  const keysOf = (some: readonly PodDisruptionBudget[]) => some.map(({ metadata }) => keyOf(metadata));
  const budgetsOf = (pod: Pod) => keysOf(near(pod).filter((budget) => covers(budget, pod)));
  const sharesIn = (owner: KubeObject) => keysOf(near(owner).filter(dependsOnScale));

  async function observe(key: string): Promise<ObservedBudget | undefined> {
    const budget = budgets.get(key);
    if (!budget) return undefined;
    const mine = pods.byIndex(BY_NAMESPACE, budget.metadata.namespace ?? '').filter((pod) => covers(budget, pod));
    return { budget, pods: mine, scales: scalesOf(mine, options), now: clock.now() };
  }

  return runController<ObservedBudget>({
    ...options,
    name: 'disruption-controller',
    triggers: [
      changesOf(budgets, ({ metadata }) => [keyOf(metadata)]),
      changesOf(pods, budgetsOf),
      changesOf(replicaSets, sharesIn),
      changesOf(deployments, sharesIn),
      changesOf(statefulSets, sharesIn),
    ],
    observe,
    decide: decideBudget,
    subject: ({ budget }) => budget,
  });
}

function covers({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  return spec.selector !== undefined && matchesLabels(requirementsOf(spec.selector), metadata.labels);
}

/** Each controller is looked up once. */
function scalesOf(pods: readonly Pod[], caches: Caches): Map<string, Scale> {
  const scales = new Map<string, Scale>();
  for (const pod of pods) {
    const uid = controllerOf(pod)?.uid;
    if (uid === undefined || scales.has(uid)) continue;
    const scale = scaleOf(pod, caches);
    if (scale) scales.set(uid, { uid: scale.metadata.uid ?? '', replicas: scale.spec.replicas ?? 1 });
  }
  return scales;
}

/** Whoever says how many: for a ReplicaSet of a Deployment, that one. */
function scaleOf(object: KubeObject, caches: Caches): Scaled | undefined {
  const reference = controllerOf(object);
  if (!reference) return undefined;
  const key = keyOf({ namespace: object.metadata.namespace, name: reference.name });
  const lookups: Readonly<Record<string, () => Scaled | undefined>> = {
    [REPLICA_SETS.kind]: () => caches.replicaSets.get(key),
    [DEPLOYMENTS.kind]: () => caches.deployments.get(key),
    [STATEFUL_SETS.kind]: () => caches.statefulSets.get(key),
  };
  const isOurs = reference.apiVersion === 'apps/v1' && Object.hasOwn(lookups, reference.kind);
  const found = isOurs ? lookups[reference.kind]?.() : undefined;
  if (found?.metadata.uid !== reference.uid) return undefined;
  return (found.kind === REPLICA_SETS.kind && scaleOf(found, caches)) || found;
}

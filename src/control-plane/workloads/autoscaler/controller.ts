/** Keeps the number of replicas of targets by what their Pods use: HorizontalPodAutoscaler. */
import type { HorizontalPodAutoscaler } from '../../../api/core/horizontal-pod-autoscaler.ts';
import { fromKey, keyOf } from '../../../api/meta.ts';
import { matchesLabels, parseLabelSelector } from '../../../base/selectors.ts';
import type { Cache } from '../../../client/cache.ts';
import { runController } from '../../../reconcile/controller.ts';
import type { Source } from '../../../reconcile/source.ts';
import { BY_NAMESPACE, type WorkloadCaches, type WorkloadOptions } from '../caches.ts';
import { decideAutoscaler, recommendationOf, type ScaleAction, wantsTheSame } from './decide.ts';
import { AutoscalerMemory } from './memory.ts';
import type { ObservedAutoscaler } from './observed.ts';
import { ScaleReader } from './read-scale.ts';
import { readUsages } from './read-usages.ts';

type Options = WorkloadOptions & Pick<WorkloadCaches, 'autoscalers' | 'pods'>;

/** Runs until the signal aborts. */
export function runAutoscalers(options: Options): Promise<void> {
  const { client, clock, autoscalers, pods } = options;
  const memory = new AutoscalerMemory();
  const scales = new ScaleReader(client);

  async function observe(key: string): Promise<ObservedAutoscaler | undefined> {
    const autoscaler = autoscalers.get(key);
    if (!autoscaler) {
      memory.forget(key);
      return undefined;
    }
    const { namespace = '' } = fromKey(key);
    const scale = await scales.read(autoscaler);
    const [now, steadyMs] = [clock.now(), clock.steady()];
    if ('error' in scale)
      return { autoscaler, scale, pods: [], usages: new Map(), past: { recommendations: [], changes: [] }, now, steadyMs };
    const requirements = parseLabelSelector(scale.selector);
    const mine = pods.byIndex(BY_NAMESPACE, namespace).filter(({ metadata }) => matchesLabels(requirements, metadata.labels));
    const usages = await readUsages(client, { namespace, selector: scale.selector });
    const past = memory.of(key, { replicas: scale.specReplicas, atMs: steadyMs });
    const observed = { autoscaler, scale, pods: mine, usages, past, now: clock.now(), steadyMs };
    const recommended = recommendationOf(observed);
    if (recommended !== undefined) memory.recommended(key, recommended, steadyMs);
    return observed;
  }

  return runController<ObservedAutoscaler, ScaleAction>({
    ...options,
    name: 'horizontal-pod-autoscaler',
    triggers: [wishesOf(autoscalers)],
    observe,
    decide: decideAutoscaler,
    act: async ({ path, replicas, by }, { autoscaler }) => {
      const headers = { 'content-type': 'application/merge-patch+json' };
      const answer = await client.request(path, { method: 'PATCH', headers, body: JSON.stringify({ spec: { replicas } }) });
      await answer.text();
      memory.scaled(keyOf(autoscaler.metadata), by, clock.steady());
      return undefined;
    },
    subject: ({ autoscaler }) => autoscaler,
  });
}

/** Changes of what is wanted alone: to measure again for every status that we write ourselves would be to measure for ever. */
function wishesOf(autoscalers: Cache<HorizontalPodAutoscaler>): Source {
  return {
    synced: autoscalers.synced,
    cache: autoscalers,
    subscribe: (wake) =>
      autoscalers.subscribe((change) => {
        if (change.type !== 'modified' || !wantsTheSame(change.old, change.object)) wake(keyOf(change.object.metadata));
      }),
  };
}

/** Keeps the instance types and preferences that come with an installation, on a cluster and embedded. */
import { CLUSTER_INSTANCETYPES } from '../../api/kubevirt/kinds/cluster-instancetype.ts';
import { CLUSTER_PREFERENCES } from '../../api/kubevirt/kinds/cluster-preference.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { apiVersionOf, type Resource } from '../../api/resource.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { type Cache, startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { isOldest } from '../kubevirt/is-oldest.ts';
import { marked } from '../objects/marks.ts';
import { decideCommonInstancetypes, type ObservedCommonInstancetypes } from './decide.ts';

/** The kinds of them. */
export const COMMON_KINDS: readonly Resource[] = [CLUSTER_INSTANCETYPES, CLUSTER_PREFERENCES];

export type CommonInstancetypesOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly kubeVirts: Cache<KubeVirt>;
  /** As deploy/ has them. */
  readonly objects: readonly KubeObject[];
  /** Called whenever all of them are as they are to be. */
  readonly onKept?: () => void;
};

/** True for objects of deploy/ that are not put in place with the others: their kinds have to be there, and virt-api, which admits them. */
export function isCommonInstancetype({ apiVersion, kind }: KubeObject): boolean {
  return COMMON_KINDS.some((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
}

/** Runs until the signal aborts. Nothing is done before the installation works. */
export async function runCommonInstancetypes({ objects, onKept, ...options }: CommonInstancetypesOptions): Promise<void> {
  const { kubeVirts, signal } = options;
  const wanted = objects.map(marked);
  await untilDeployed(kubeVirts, signal);
  if (signal.aborted) return;
  const stored = COMMON_KINDS.map((resource) => startCache({ ...options, resource }));
  const keys = () => kubeVirts.list().map(({ metadata }) => keyOf(metadata));
  await runController<ObservedCommonInstancetypes>({
    ...options,
    name: 'common-instancetypes',
    triggers: [changesOf(kubeVirts, ({ metadata }) => [keyOf(metadata)]), ...stored.map((cache) => changesOf(cache, keys))],
    observe: (key) => {
      const kubeVirt = kubeVirts.get(key);
      const isTheOne = kubeVirt !== undefined && isOldest(kubeVirt, kubeVirts.list());
      return kubeVirt && { kubeVirt, isTheOne, wanted, stored: stored.flatMap((cache) => cache.list()) };
    },
    decide: (observed) => {
      const decision = decideCommonInstancetypes(observed);
      if (decision.actions.length === 0) onKept?.();
      return decision;
    },
    subject: ({ kubeVirt }) => kubeVirt,
    workers: 1,
  });
}

function untilDeployed(kubeVirts: Cache<KubeVirt>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = kubeVirts.subscribe(() => {
      if (kubeVirts.list().some(({ status }) => status?.phase === 'Deployed')) end();
    });
    function end() {
      queueMicrotask(() => stop()); // the first call may come while we subscribe
      resolve();
    }
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}

/** virt-operator: installs, upgrades and repairs everything else, as the KubeVirt object says; takes it away when that object is deleted. */
import { PODS } from '../api/core/pod.ts';
import { knownResource } from '../api/known-resources.ts';
import { INSTALLED_KINDS, installedResource, NEWER_KINDS } from '../api/kubevirt/installed-kinds-table.ts';
import { KUBEVIRTS } from '../api/kubevirt/kubevirt.ts';
import { LABEL_COMPONENT } from '../api/kubevirt/names.ts';
import { type KubeObject, keyOf } from '../api/meta.ts';
import { apiVersionOf, type Resource } from '../api/resource.ts';
import type { Clock } from '../base/clock.ts';
import { isApiError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { startCache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import { runController } from '../reconcile/controller.ts';
import { decideInstallation } from './kubevirt/decide.ts';
import { observeInstallation } from './kubevirt/observe.ts';
import type { InstallationObserved } from './kubevirt/observed.ts';
import type { Defaults } from './kubevirt/options-from.ts';
import { supportCheck } from './kubevirt/support.ts';
import { isOurs, LABEL_MANAGED_BY, MANAGED_BY, marked } from './objects/wanted.ts';

export type OperatorOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The objects of deploy/. */
  readonly manifests: readonly KubeObject[];
  readonly defaults: Defaults;
  /** How long it takes until a changed certificate is in use everywhere. */
  readonly spreadMs: number;
  /** Called when everything is known that there is. */
  readonly onSynced: () => void;
};

const ASK_AGAIN_MS = 2_000;
const FORBIDDEN_AT_MOST = 5;

/** Runs until the signal aborts. */
export async function runVirtOperator({ manifests, defaults, spreadMs, onSynced, ...options }: OperatorOptions): Promise<void> {
  const { namespace } = defaults;
  const labelSelector = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;
  const namespaces = new Set(manifests.flatMap(({ kind, metadata }) => (kind === 'RoleBinding' ? (metadata.namespace ?? []) : [])));
  const missing = await kindsNotServed(options, labelSelector);
  const installed = INSTALLED_KINDS.filter((each) => !missing.includes(each)).flatMap((resource) => {
    if (!resource.isNamespaced) return [startCache({ ...options, resource, labelSelector })];
    const places = resource.kind === 'RoleBinding' ? [...new Set([namespace, ...namespaces])] : [namespace];
    return places.map((each) => startCache({ ...options, resource, labelSelector, namespace: each }));
  });
  const kubeVirts = startCache({ ...options, resource: KUBEVIRTS });
  const pods = startCache({ ...options, resource: PODS, namespace, labelSelector: `${LABEL_COMPONENT},${labelSelector}` });
  void Promise.all([kubeVirts, pods, ...installed].map(({ synced }) => synced)).then(onSynced, () => {}); // it ends before it began
  const observing = {
    ...options,
    kubeVirts,
    pods,
    installed,
    manifests: manifests.filter(isOurs).map(marked),
    isServed: ({ apiVersion, kind }: KubeObject) => !missing.some((each) => each.kind === kind && apiVersionOf(each) === apiVersion),
    defaults,
    spreadMs,
    unsupported: supportCheck(options.client),
  };
  await runController<InstallationObserved>({
    ...options,
    name: 'virt-operator',
    triggers: [
      { cache: kubeVirts, keysOf: ({ metadata }) => [keyOf(metadata)] },
      ...[pods, ...installed].map((cache) => ({ cache, keysOf: () => kubeVirts.list().map(({ metadata }) => keyOf(metadata)) })),
    ],
    observe: (key) => observeInstallation(key, observing),
    decide: decideInstallation,
    subject: ({ kubeVirt }) => kubeVirt,
    resourceOf: (type) => installedResource(type) ?? knownResource(type),
    workers: 1,
  });
}

type Asking = Pick<OperatorOptions, 'client' | 'clock' | 'log' | 'signal'>;

/** Looked at once: whoever upgrades a cluster replaces its Pods, this one too. */
async function kindsNotServed({ client, clock, log, signal }: Asking, labelSelector: string): Promise<Resource[]> {
  const isServed = async (resource: Resource): Promise<boolean> => {
    for (let refusals = 0; !signal.aborted; await clock.sleep(ASK_AGAIN_MS, signal)) {
      try {
        await client.list(resource, { labelSelector });
        return true;
      } catch (error) {
        if (isApiError(error, 'NotFound')) return false;
        // Roles of an older release know nothing of it; those of this one may be a moment late.
        if (isApiError(error, 'Forbidden') && ++refusals > FORBIDDEN_AT_MOST) return false;
        log.warn('cannot see whether there is a kind, trying again', { kind: resource.kind, error });
      }
    }
    return false;
  };
  const answers = await Promise.all(NEWER_KINDS.map(isServed));
  return NEWER_KINDS.filter((_, index) => !answers[index]);
}

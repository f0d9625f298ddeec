/** virt-operator: installs, upgrades and repairs everything else, as the KubeVirt object says; takes it away when that object is deleted. */
import { PODS } from '../api/core/pod.ts';
import { knownResource } from '../api/known-resources.ts';
import { INSTALLED_KINDS, installedResource } from '../api/kubevirt/installed-kinds-table.ts';
import { KUBEVIRTS } from '../api/kubevirt/kinds/kubevirt.ts';
import { LABEL_COMPONENT, LABEL_MANAGED_BY, MANAGED_BY_OPERATOR } from '../api/kubevirt/names.ts';
import { type KubeObject, keyOf } from '../api/meta.ts';
import { apiVersionOf } from '../api/resource.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { MetricFamilies } from '../base/metrics.ts';
import { startCache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import { runController } from '../reconcile/controller.ts';
import { changesOf } from '../reconcile/source.ts';
import { isCommonInstancetype, runCommonInstancetypes } from './common-instancetypes/controller.ts';
import { kubernetesVersionCheck } from './kubevirt/check-kubernetes-version.ts';
import { decideInstallation } from './kubevirt/decide.ts';
import { observeInstallation } from './kubevirt/observe.ts';
import type { InstallationObserved } from './kubevirt/observed.ts';
import type { Defaults } from './kubevirt/render-options.ts';
import { isOurs } from './objects/desired-objects.ts';
import { marked } from './objects/marks.ts';
import { unservedKinds } from './unserved-kinds.ts';

export type OperatorOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies;
  /** The objects of deploy/. */
  readonly manifests: readonly KubeObject[];
  readonly defaults: Defaults;
  /** How long it takes until a changed certificate is in use everywhere. */
  readonly spreadMs: number;
  /** Called when everything is known that there is. */
  readonly onSynced: () => void;
};

/** Runs until the signal aborts. */
export async function runVirtOperator({ manifests, defaults, spreadMs, onSynced, ...options }: OperatorOptions): Promise<void> {
  const { namespace } = defaults;
  const labelSelector = `${LABEL_MANAGED_BY}=${MANAGED_BY_OPERATOR}`;
  const namespaces = new Set(manifests.flatMap(({ kind, metadata }) => (kind === 'RoleBinding' ? (metadata.namespace ?? []) : [])));
  const missing = await unservedKinds(options, labelSelector);
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
    manifests: manifests.filter((object) => isOurs(object) && !isCommonInstancetype(object)).map(marked),
    isServed: ({ apiVersion, kind }: KubeObject) => !missing.some((each) => each.kind === kind && apiVersionOf(each) === apiVersion),
    defaults,
    spreadMs,
    unsupported: kubernetesVersionCheck(options.client),
  };
  const common = runCommonInstancetypes({ ...options, kubeVirts, objects: manifests.filter(isCommonInstancetype) });
  await runController<InstallationObserved>({
    ...options,
    name: 'virt-operator',
    triggers: [
      changesOf(kubeVirts, ({ metadata }) => [keyOf(metadata)]),
      ...[pods, ...installed].map((cache) => changesOf(cache, () => kubeVirts.list().map(({ metadata }) => keyOf(metadata)))),
    ],
    observe: (key) => observeInstallation(key, observing),
    decide: decideInstallation,
    subject: ({ kubeVirt }) => kubeVirt,
    resourceOf: (type) => installedResource(type) ?? knownResource(type),
    workers: 1,
  });
  await common;
}

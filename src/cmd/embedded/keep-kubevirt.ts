/** The KubeVirt object of an embedded cluster: made when there is none, its status kept true by this process. There is no operator here. */
import { GATE_SHARED_FOLDERS } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { KUBEVIRTS, type KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideKubeVirtStatus, type ObservedInstallation } from '../../virt-operator/status/decide.ts';
import { VERSION } from '../version.ts';

export type KubeVirtKeeperOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

const FIRST: KubeVirt = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt', namespace: INSTALL_NAMESPACE },
  spec: { configuration: { developerConfiguration: { featureGates: [GATE_SHARED_FOLDERS] } } },
};

/** Makes the object of a cluster that has none yet; one that somebody gave another name stays the only one. */
export async function ensureKubeVirt(client: Client): Promise<void> {
  const { items } = await client.list(KUBEVIRTS);
  if (items.length === 0) await client.create(KUBEVIRTS, FIRST);
}

/** Runs until the signal aborts. It is started when everything else works: from then on the installation is ready. */
export async function keepKubeVirtStatus(options: KubeVirtKeeperOptions): Promise<void> {
  const kubeVirts = startCache({ ...options, resource: KUBEVIRTS });
  await runController<ObservedInstallation>({
    ...options,
    name: 'kubevirt-status',
    triggers: [changesOf(kubeVirts, ({ metadata }) => [keyOf(metadata)])],
    observe: (key) => {
      const kubeVirt = kubeVirts.get(key);
      const now = options.clock.now();
      const runs = { stage: 'ready', version: VERSION, runningVersion: VERSION, architecture: 'amd64', now } as const;
      return kubeVirt && { kubeVirt, installation: runs };
    },
    decide: decideKubeVirtStatus,
    subject: ({ kubeVirt }) => kubeVirt,
    workers: 1,
  });
}

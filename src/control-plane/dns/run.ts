/** The name server of the embedded cluster: Services, Pods and machines by name, everything else from the host. */
import { ENDPOINT_SLICES } from '../../api/core/endpoint-slice.ts';
import { NAMESPACES } from '../../api/core/namespace.ts';
import { isPodFinal, PODS, type Pod } from '../../api/core/pod.ts';
import { SERVICES, type Service } from '../../api/core/service.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { ClusterNames } from './cluster-names.ts';
import { type DnsListener, serveDns } from './serve-dns.ts';
import { createUpstream } from './upstream.ts';

export type ClusterDnsOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly listeners: readonly DnsListener[];
  readonly upstream: { readonly host: string; readonly port?: number };
  readonly isInside: (address: string) => boolean;
};

const RETRY_MS = 5_000;

/** Runs until the signal aborts. It answers when it knows the cluster, not before: a no would be believed. */
export async function runClusterDns(options: ClusterDnsOptions): Promise<void> {
  const { clock, log, signal } = options;
  const names = await clusterNames(options).catch(() => undefined); // it ends before it has begun
  if (!names) return;
  const serving = { ...options, names, upstream: createUpstream(options.upstream) };
  while (!signal.aborted) {
    try {
      await serveDns(serving);
      break;
    } catch (error) {
      log.warn('the name server cannot listen, retrying', { error });
      await clock.sleep(RETRY_MS, signal);
    }
  }
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

async function clusterNames(options: ClusterDnsOptions): Promise<ClusterNames> {
  const services = startCache({ ...options, resource: SERVICES, indexes: { address: addressOfService } });
  const slices = startCache({ ...options, resource: ENDPOINT_SLICES, indexes: { service: serviceOf } });
  const pods = startCache({ ...options, resource: PODS, indexes: { address: addressOfPod } });
  const vmis = startCache({ ...options, resource: VMIS });
  const namespaces = startCache({ ...options, resource: NAMESPACES });
  await Promise.all([services, slices, pods, vmis, namespaces].map(({ synced }) => synced));
  return {
    service: (namespace, name) => services.get(keyOf({ namespace, name })),
    slices: (namespace, name) => slices.byIndex('service', keyOf({ namespace, name })),
    machine: (namespace, name) => vmis.get(keyOf({ namespace, name })),
    hasNamespace: (name) => namespaces.get(keyOf({ name })) !== undefined,
    serviceAt: (address) => services.byIndex('address', address)[0],
    podAt: (address) => pods.byIndex('address', address)[0],
  };
}

function addressOfService({ spec }: Service): string[] {
  return spec.clusterIP && spec.type !== 'ExternalName' ? [spec.clusterIP] : [];
}

/** Of a Pod that has ended another one may have the address. */
function addressOfPod(pod: Pod): string[] {
  return pod.status?.podIP && !isPodFinal(pod) ? [pod.status.podIP] : [];
}

function serviceOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.['kubernetes.io/service-name'];
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
}

/**
 * The addresses that a name of the cluster stands for.
 *
 *   SERVICE.NAMESPACE.svc.cluster.local        its address; without one, those of its Pods that are ready
 *   HOST.SERVICE.NAMESPACE.svc.cluster.local   the Pod with that host name behind such a Service
 *   10-0-0-1.NAMESPACE.pod.cluster.local       10.0.0.1
 */
import type { EndpointSlice } from '../../../src/api/core/endpoint-slice.ts';
import type { Service } from '../../../src/api/core/service.ts';

export type Known = { readonly services: readonly Service[]; readonly slices: readonly EndpointSlice[] };
export type Endpoint = EndpointSlice['endpoints'][number] & { readonly hostname?: string };

const DOMAIN = '.cluster.local';

/** Undefined when there is no such name. */
export function addressesOf(name: string, known: Known): readonly string[] | undefined {
  if (!name.endsWith(DOMAIN)) return undefined;
  const labels = name.slice(0, -DOMAIN.length).split('.');
  const kind = labels.pop();
  const namespace = labels.pop();
  if (kind === 'pod' && labels.length === 1) return podAddress(labels[0] ?? '');
  if (kind !== 'svc' || labels.length < 1 || labels.length > 2) return undefined;
  const service = known.services.find(({ metadata }) => metadata.name === labels.at(-1) && metadata.namespace === namespace);
  if (!service) return undefined;
  const { clusterIP } = service.spec;
  const host = labels.length === 2 ? labels[0] : undefined;
  if (host === undefined && clusterIP && clusterIP !== 'None') return [clusterIP];
  const endpoints = endpointsOf(service, known.slices).filter(({ hostname }) => host === undefined || hostname === host);
  return host !== undefined && endpoints.length === 0 ? undefined : [...new Set(endpoints.flatMap(({ addresses }) => addresses))];
}

function podAddress(label: string): readonly string[] | undefined {
  return /^\d{1,3}(-\d{1,3}){3}$/.test(label) ? [label.replaceAll('-', '.')] : undefined;
}

function endpointsOf({ metadata, spec }: Service, slices: readonly EndpointSlice[]): Endpoint[] {
  return slices
    .filter((slice) => slice.metadata.namespace === metadata.namespace && slice.addressType === 'IPv4')
    .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === metadata.name)
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => spec.publishNotReadyAddresses || conditions?.ready !== false);
}

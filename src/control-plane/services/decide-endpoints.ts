/**
 * Endpoints, for clients that do not know EndpointSlices: one object for a Service, with the name of the Service, made of its slices.
 *
 *   the Service has a selector    Endpoints say what its slices say
 *   the Service is gone           so are its Endpoints, if they were made here
 *   anything else                 somebody else writes them
 */
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import type { EndpointAddress, EndpointSubset, Endpoints } from '../../api/core/endpoints.ts';
import type { Service } from '../../api/core/service.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { deepEqual } from '../../base/json.ts';
import type { Decision } from '../../reconcile/decision.ts';
import { isSelecting } from './decide-slices.ts';

export type ObservedEndpoints = {
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: Endpoints | undefined;
};

const LABEL_MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const MANAGER = 'endpoint-controller';
/** As many as Kubernetes puts into one object. */
const MAX_ADDRESSES = 1_000;

export function decideEndpoints({ service, slices, endpoints }: ObservedEndpoints): Decision {
  if (!service || isDeleting(service)) return { actions: endpoints && isOurs(endpoints) ? [removal(endpoints)] : [] };
  if (!isSelecting(service)) return { actions: [] };
  const { name, namespace, labels } = service.metadata;
  const subsets = subsetsOf(slices);
  const wanted = { ...labels, [LABEL_MANAGED_BY]: MANAGER };
  if (!endpoints) {
    const object: Endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name, namespace, labels: wanted }, subsets };
    return { actions: [{ do: 'create', object, because: 'the Service has a selector' }] };
  }
  const hasLabels = Object.entries(wanted).every(([key, value]) => endpoints.metadata.labels?.[key] === value);
  if (hasLabels && deepEqual(endpoints.subsets ?? [], subsets)) return { actions: [] };
  const patch = { metadata: { labels: wanted }, subsets };
  return { actions: [{ do: 'patch', target: refOf(endpoints), patch, because: 'the Pods of the Service have changed' }] };
}

function isOurs(endpoints: Endpoints): boolean {
  return endpoints.metadata.labels?.[LABEL_MANAGED_BY] === MANAGER && !isDeleting(endpoints);
}

function removal(endpoints: Endpoints) {
  return { do: 'delete', target: refOf(endpoints), because: 'the Service is gone' } as const;
}

/** One for each set of ports. A Pod that ends is told of only while it answers. */
function subsetsOf(slices: readonly EndpointSlice[]): EndpointSubset[] {
  const groups = Map.groupBy(
    slices.filter(({ endpoints }) => endpoints.length > 0),
    ({ ports }) => JSON.stringify(ports ?? []),
  );
  let left = MAX_ADDRESSES;
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, members]): EndpointSubset[] => {
      const all = members.flatMap(({ endpoints }) => endpoints).slice(0, left);
      left -= all.length;
      const addresses = all.filter(({ conditions }) => conditions?.ready !== false).map(addressOf);
      const notReadyAddresses = all.filter(({ conditions }) => conditions?.ready === false && !conditions.terminating).map(addressOf);
      if (addresses.length + notReadyAddresses.length === 0) return [];
      const ports = (members[0]?.ports ?? []).map(({ name, port = 0, protocol = 'TCP' }) => ({ ...(name && { name }), port, protocol }));
      return [{ ...(addresses.length > 0 && { addresses }), ...(notReadyAddresses.length > 0 && { notReadyAddresses }), ports }];
    });
}

function addressOf({ addresses, hostname, nodeName, targetRef }: EndpointSlice['endpoints'][number]): EndpointAddress {
  return { ip: addresses[0] ?? '', ...(hostname && { hostname }), ...(nodeName && { nodeName }), ...(targetRef && { targetRef }) };
}

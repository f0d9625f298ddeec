/**
 * Which EndpointSlices a Service should have, and what has to change.
 *
 *   no selector, ExternalName    somebody else writes the slices
 *   a Pod counts                 it has an address, matches, and has not ended
 *   ready                        its Ready condition holds and it is not being deleted (publishNotReadyAddresses: always)
 *   host name                    that of the Pod, if its subdomain is the Service: the name server has a name for it then
 *   ports                        a named target port may be another number in each Pod: one slice for each set of numbers
 */
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import { controllerReferenceTo, hasCondition, isControlledBy, isDeleting, refOf } from '../../api/meta.ts';
import { deepEqual } from '../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import { sha1Hex } from '../../base/sha1.ts';
import type { Action, Decision } from '../../reconcile/decision.ts';

export type ObservedService = {
  readonly service: Service;
  /** Of its namespace. */
  readonly pods: readonly Pod[];
  /** Those that name it. */
  readonly slices: readonly EndpointSlice[];
};

export const LABEL_SERVICE_NAME = 'kubernetes.io/service-name';
const LABEL_MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const MANAGER = 'endpointslice-controller.k8s.io';
const MAX_ENDPOINTS = 100;

type SlicePorts = NonNullable<EndpointSlice['ports']>;

/** Creates what is missing, patches what differs, deletes what is left over; slices that others manage are left alone. */
export function decideSlices({ service, pods, slices }: ObservedService): Decision {
  const wanted = isSelecting(service) && !isDeleting(service) ? slicesFor(service, pods) : [];
  const owned = slices.filter((slice) => isControlledBy(slice, service) && slice.metadata.labels?.[LABEL_MANAGED_BY] === MANAGER);
  const isWanted = (slice: EndpointSlice) => wanted.some(({ metadata }) => metadata.name === slice.metadata.name);
  const leftOver = owned.filter((slice) => !isWanted(slice) && !isDeleting(slice));
  return {
    actions: [
      ...wanted.flatMap((slice) => write(slice, owned)),
      ...leftOver.map((slice): Action => ({ do: 'delete', target: refOf(slice), because: 'no Pod of the Service has these ports' })),
    ],
  };
}

/** True for a Service whose Pods are found by its selector; who stands behind others is for somebody else to say. */
export function isSelecting({ spec: { selector = {}, type } }: Service): boolean {
  return Object.keys(selector).length > 0 && type !== 'ExternalName';
}

function write(slice: EndpointSlice, owned: readonly EndpointSlice[]): Action[] {
  const old = owned.find(({ metadata }) => metadata.name === slice.metadata.name);
  if (!old) return [{ do: 'create', object: slice, because: 'the Service has Pods with these ports' }];
  const { endpoints, ports } = slice;
  if (deepEqual(old.endpoints, endpoints) && deepEqual(old.ports, ports)) return [];
  const { resourceVersion } = old.metadata;
  return [
    { do: 'patch', target: refOf(old), patch: { endpoints, ports }, resourceVersion, because: 'the Pods of the Service have changed' },
  ];
}

function slicesFor(service: Service, pods: readonly Pod[]): EndpointSlice[] {
  const chosen = pods.filter((pod) => counts(service, pod)).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const groups = Map.groupBy(chosen, (pod) => JSON.stringify(portsFor(service, pod)));
  // A Service without Pods has an empty slice: that it is known to have none.
  if (groups.size === 0) return [sliceFor(service, { key: '', ports: [], pods: [] })];
  return [...groups].flatMap(([text, members]) => {
    const ports = JSON.parse(text) as SlicePorts; // what was written two lines above
    const chunks = Math.ceil(members.length / MAX_ENDPOINTS);
    return Array.from({ length: chunks }, (_, chunk) => {
      const part = members.slice(chunk * MAX_ENDPOINTS, (chunk + 1) * MAX_ENDPOINTS);
      return sliceFor(service, { key: chunk === 0 && groups.size === 1 ? '' : `${text} ${chunk}`, ports, pods: part });
    });
  });
}

type Part = { readonly key: string; readonly ports: SlicePorts; readonly pods: readonly Pod[] };

/** The name follows from what the slice is for, so that the same slice is never made twice. */
function sliceFor(service: Service, { key, ports, pods }: Part): EndpointSlice {
  const { name, namespace, uid } = service.metadata;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${sha1Hex(`${uid} ${key}`).slice(0, 5)}`,
      namespace,
      labels: { [LABEL_SERVICE_NAME]: name, [LABEL_MANAGED_BY]: MANAGER },
      ownerReferences: [controllerReferenceTo(service)],
    },
    addressType: 'IPv4',
    ports,
    endpoints: pods.map((pod) => endpointFor(service, pod)),
  };
}

function endpointFor({ spec, metadata }: Service, pod: Pod): EndpointSlice['endpoints'][number] {
  const serving = spec.publishNotReadyAddresses === true || hasCondition(pod.status?.conditions, 'Ready');
  const terminating = isDeleting(pod);
  const { name, namespace, uid } = pod.metadata;
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: { ready: serving && (!terminating || spec.publishNotReadyAddresses === true), serving, terminating },
    ...(pod.spec.hostname && pod.spec.subdomain === metadata.name && { hostname: pod.spec.hostname }),
    ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', name, namespace, uid },
  };
}

function counts({ spec }: Service, pod: Pod): boolean {
  if (!pod.status?.podIP || isPodFinal(pod)) return false;
  return matchesLabels(requirementsOf({ matchLabels: spec.selector ?? {} }), pod.metadata.labels ?? {});
}

/** A name that the Pod does not have is left out. */
function portsFor({ spec }: Service, pod: Pod): SlicePorts {
  return (spec.ports ?? []).flatMap(({ name = '', port, targetPort = port, protocol = 'TCP' }) => {
    const named = () => pod.spec.containers.flatMap(({ ports = [] }) => ports).find((each) => each.name === targetPort)?.containerPort;
    const number = typeof targetPort === 'number' ? targetPort : named();
    return number === undefined ? [] : [{ name, port: number, protocol }];
  });
}

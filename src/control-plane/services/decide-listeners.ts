/**
 * Where the proxy has to listen, and whom it may pass a connection on to. Pure.
 *
 *   an address beyond the range of Services, a NodePort beyond theirs    not served, whoever stored it
 *   two Services want the same                                           the older one has it
 *   more than one namespace, or all, may have                            the older Services are served: each takes a file of the one process
 */
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import type { Service } from '../../api/core/service.ts';
import { isNodePort, isServiceAddress, SERVICE_PORTS } from '../../api/core/service-ranges.ts';

export type Protocol = 'TCP' | 'UDP';
export type Target = { readonly host: string; readonly port: number };
export type Listener = {
  readonly protocol: Protocol;
  readonly host: string;
  readonly port: number;
  readonly targets: readonly Target[];
  /** For so long a client is given the same target again. */
  readonly affinityMs?: number;
  /** A NodePort: whoever is on the host gets here, too. */
  readonly isNodePort?: true;
};
/** With the namespace of its Service. */
export type OwnListener = Listener & { readonly namespace: string };
export type ListenerOptions = {
  /** Addresses of Services are local here. */
  readonly hasClusterAddresses: boolean;
  /** Where NodePorts are served. */
  readonly nodeAddress: string;
  /** Addresses of Services at which somebody else answers. */
  readonly servedElsewhere?: readonly string[];
  /** Which addresses Services have, where they are not those of an embedded cluster. */
  readonly isServiceAddress?: (address: string) => boolean;
};

export type ObservedServices = {
  readonly services: readonly Service[];
  readonly slicesOf: (service: Service) => readonly EndpointSlice[];
};

/** As Kubernetes has it: three hours. */
const DEFAULT_AFFINITY_SECONDS = 10_800;

/** The API server refuses more: see its rules for Services. What an older release has stored may be more. */
const MOST_LISTENERS = { ofOne: 2 * SERVICE_PORTS.ofOne, ofAll: 2 * SERVICE_PORTS.ofAll };

/** One key for each socket. */
export function listenerKey({ protocol, host, port }: Pick<Listener, 'protocol' | 'host' | 'port'>): string {
  return `${protocol} ${host}:${port}`;
}

/** The listeners of one Service: its address with each port, and its NodePorts. SCTP is not carried. */
export function decideListeners(service: Service, slices: readonly EndpointSlice[], options: ListenerOptions): Listener[] {
  const { clusterIP = '', ports = [], type } = service.spec;
  const hasAddress = type !== 'ExternalName' && (options.isServiceAddress ?? isServiceAddress)(clusterIP);
  if (!hasAddress) return [];
  const isServedHere = options.hasClusterAddresses && !options.servedElsewhere?.includes(clusterIP);
  const affinity = affinityOf(service);
  return ports.flatMap(({ name = '', port, nodePort, protocol = 'TCP' }): Listener[] => {
    if (protocol !== 'TCP' && protocol !== 'UDP') return [];
    const shared: Pick<Listener, 'protocol' | 'targets' | 'affinityMs'> = {
      protocol,
      targets: targetsOf(slices, name, protocol),
      ...affinity,
    };
    return [
      ...(isServedHere ? [{ ...shared, host: clusterIP, port }] : []),
      ...(isNodePort(nodePort) ? [{ ...shared, host: options.nodeAddress, port: nodePort, isNodePort: true as const }] : []),
    ];
  });
}

/** All of them by their keys, with the Service that has each. */
export function decideAllListeners({ services, slicesOf }: ObservedServices, options: ListenerOptions): ReadonlyMap<string, OwnListener> {
  const wanted = new Map<string, OwnListener>();
  const counts = new Map<string, number>();
  for (const service of oldestFirst(services)) {
    for (const listener of decideListeners(service, slicesOf(service), options)) {
      const key = listenerKey(listener);
      const { namespace = '' } = service.metadata;
      const count = counts.get(namespace) ?? 0;
      if (wanted.has(key) || count >= MOST_LISTENERS.ofOne || wanted.size >= MOST_LISTENERS.ofAll) continue;
      counts.set(namespace, count + 1);
      wanted.set(key, { ...listener, namespace });
    }
  }
  return wanted;
}

/** By when they were made, then by name, so that who has what does not change by itself. */
export function oldestFirst(services: readonly Service[]): Service[] {
  const age = ({ metadata: { creationTimestamp = '', namespace = '', name } }: Service) => `${creationTimestamp} ${namespace}/${name}`;
  const withAge = services.map((service) => ({ service, age: age(service) }));
  return withAge.sort((a, b) => (a.age < b.age ? -1 : 1)).map(({ service }) => service);
}

function affinityOf({ spec }: Service): { readonly affinityMs?: number } {
  if (spec.sessionAffinity !== 'ClientIP') return {};
  return { affinityMs: (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS) * 1000 };
}

/** Those that are ready; when there is none, those that still serve while they end. */
function targetsOf(slices: readonly EndpointSlice[], portName: string, wanted: Protocol): Target[] {
  const fitting = (isWanted: (endpoint: EndpointSlice['endpoints'][number]) => boolean) =>
    slices.flatMap(({ ports = [], endpoints }) => {
      const port = ports.find(({ name = '', protocol = 'TCP' }) => name === portName && protocol === wanted)?.port;
      return port === undefined
        ? []
        : endpoints.filter(isWanted).flatMap(({ addresses }) => addresses.slice(0, 1).map((host) => ({ host, port })));
    });
  const ready = fitting(({ conditions }) => conditions?.ready !== false);
  return ready.length > 0 ? ready : fitting(({ conditions }) => conditions?.serving === true && conditions.terminating === true);
}

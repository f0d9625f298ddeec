/** Services of the embedded cluster: who stands behind each, the proxy at their addresses, and the API server's own. */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { CLUSTER_DNS_ADDRESS, UPSTREAM_DNS_ADDRESS } from '../../api/core/cluster-dns.ts';
import { ENDPOINT_SLICES } from '../../api/core/endpoint-slice.ts';
import { API_SERVER_ADDRESS } from '../../api/core/service-ranges.ts';
import type { Client } from '../../client/client.ts';
import { runClusterDns } from '../../control-plane/dns/run.ts';
import { runEndpointSlices, type ServicesOptions } from '../../control-plane/services/controller.ts';
import { runHostAddresses } from '../../control-plane/services/host-ports/controller.ts';
import { HostPorts } from '../../control-plane/services/host-ports/host-ports.ts';
import { runServiceProxy } from '../../control-plane/services/proxy.ts';
import { hostCallPath, hostPortsPath } from '../../virtctl/embedded/paths.ts';
import { apply } from './apply-manifests.ts';

export type ServiceNetworkOptions = {
  /** What the controller of EndpointSlices and the proxy work with. */
  readonly controller: ServicesOptions;
  readonly proxy: ServicesOptions;
  readonly dns: ServicesOptions;
  readonly network: 'namespace' | 'host';
  readonly home: string;
};

/** Runs until the signal aborts. On the host's network Services have no addresses, only NodePorts. */
export function runServiceNetwork({ controller, proxy, dns, network, home }: ServiceNetworkOptions): Promise<unknown> {
  const listeners = {
    hasClusterAddresses: network === 'namespace',
    nodeAddress: '127.0.0.1',
    servedElsewhere: [CLUSTER_DNS_ADDRESS],
  };
  if (network === 'host') return Promise.all([runEndpointSlices(controller), runServiceProxy({ ...proxy, ...listeners })]);
  const hostPorts = new HostPorts({ ...proxy, path: hostPortsPath(home), callHost: () => callHost(home) });
  return Promise.all([
    runEndpointSlices(controller),
    runServiceProxy({ ...proxy, ...listeners, hostPorts }),
    runHostAddresses({ ...proxy, hostPorts, listeners }),
    runClusterDns({ ...dns, listeners: DNS_LISTENERS, upstream: { host: UPSTREAM_DNS_ADDRESS }, isInside }),
  ]);
}

/** UDP everywhere: what guests send to the name server of the host comes here, too. */
const DNS_LISTENERS = [
  { host: CLUSTER_DNS_ADDRESS, port: 53, protocol: 'udp' },
  { host: CLUSTER_DNS_ADDRESS, port: 53, protocol: 'tcp' },
  { host: '0.0.0.0', port: 53, protocol: 'udp' },
] as const;

/** Pods, Services and this machine itself; nobody else gets into the namespace, and nobody else would be answered. */
function isInside(address: string): boolean {
  return /^(127|10\.244|10\.(9[6-9]|10\d|11[01]))\./.test(address);
}

/** A line to the supervisor, which is on the network of the host. Where nobody reads (it was started by hand), NodePorts stay inside. */
function callHost(home: string): void {
  try {
    const pipe = openSync(hostCallPath(home), constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(pipe, 'start\n');
    closeSync(pipe);
  } catch (error) {
    if (!['ENOENT', 'ENXIO', 'EAGAIN'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** The Service `default/kubernetes`, by which Pods find the API. */
export async function publishApiServer(client: Client, port: number): Promise<void> {
  const metadata = { name: 'kubernetes', namespace: 'default' };
  const ports = [{ name: 'https', port: 443, targetPort: port, protocol: 'TCP' }];
  const spec = { type: 'ClusterIP', clusterIP: API_SERVER_ADDRESS, ports };
  await apply(client, { apiVersion: 'v1', kind: 'Service', metadata, spec } as never);
  await apply(client, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: ENDPOINT_SLICES.kind,
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port, protocol: 'TCP' }],
    endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
  } as never);
}

/** The Service `kube-system/kube-dns`, at which everybody looks for the name server of a cluster. */
export async function publishClusterDns(client: Client): Promise<void> {
  const metadata = { name: 'kube-dns', namespace: 'kube-system' };
  const labels = { 'k8s-app': 'kube-dns', 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' };
  const ports = [
    { name: 'dns', port: 53, targetPort: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, targetPort: 53, protocol: 'TCP' },
  ];
  const spec = { clusterIP: CLUSTER_DNS_ADDRESS, ports }; // `virtctl dns --host` makes a NodePort of it, which stays one
  await apply(client, { apiVersion: 'v1', kind: 'Service', metadata: { ...metadata, labels }, spec } as never);
  await apply(client, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: ENDPOINT_SLICES.kind,
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
    addressType: 'IPv4',
    ports: ports.map(({ name, port, protocol }) => ({ name, port, protocol })),
    endpoints: [{ addresses: [CLUSTER_DNS_ADDRESS], conditions: { ready: true } }],
  } as never);
}

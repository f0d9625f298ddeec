/** Services of the embedded cluster: who stands behind each, the proxy at their addresses, and the API server's own. */
import { ENDPOINT_SLICES } from '../../api/core/endpoint-slice.ts';
import type { Client } from '../../client/client.ts';
import { runEndpointSlices, type ServicesOptions } from '../../control-plane/services/controller.ts';
import { runServiceProxy } from '../../control-plane/services/proxy.ts';
import { apply } from './apply-manifests.ts';

export type ServiceNetworkOptions = {
  /** What the controller of EndpointSlices and the proxy work with. */
  readonly controller: ServicesOptions;
  readonly proxy: ServicesOptions;
  readonly network: 'namespace' | 'host';
};

const API_SERVER_ADDRESS = '10.96.0.1';

/** Runs until the signal aborts. On the host's network Services have no addresses, only NodePorts. */
export function runServiceNetwork({ controller, proxy, network }: ServiceNetworkOptions): Promise<unknown> {
  return Promise.all([
    runEndpointSlices(controller),
    runServiceProxy({ ...proxy, hasClusterAddresses: network === 'namespace', nodeAddress: '127.0.0.1' }),
  ]);
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

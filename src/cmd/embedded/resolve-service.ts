/** Where a Service is served now, by its EndpointSlices: the API server needs no cluster DNS and no proxy of its own. */
import { ENDPOINT_SLICES } from '../../api/core/endpoint-slice.ts';
import { SERVICES } from '../../api/core/service.ts';
import type { Client } from '../../client/client.ts';

export async function resolveService(client: Client, { namespace, name, port }: { namespace: string; name: string; port: number }) {
  const service = await client.get(SERVICES, { namespace, name });
  const servicePort = service?.spec.ports?.find((each) => each.port === port);
  if (!servicePort) return undefined;
  const { items } = await client.list(ENDPOINT_SLICES, { namespace, labelSelector: `kubernetes.io/service-name=${name}` });
  for (const slice of items) {
    const target = slice.ports?.find((each) => (each.name ?? '') === (servicePort.name ?? ''))?.port;
    const endpoint = slice.endpoints.find(({ conditions }) => conditions?.ready !== false);
    const host = endpoint?.addresses[0];
    if (target !== undefined && host !== undefined) return { host, port: target };
  }
  return undefined;
}

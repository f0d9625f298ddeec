/**
 * services/[SCHEME:]NAME[:PORT]/proxy/PATH: a request for whoever serves a Service, passed on by the API server. Only Pods of the Service's own
 * namespace are reached, at the addresses that they have: an EndpointSlice that somebody wrote leads nowhere else.
 */
import type { EndpointSlice } from '../../../api/core/endpoint-slice.ts';
import type { Pod } from '../../../api/core/pod.ts';
import type { Service } from '../../../api/core/service.ts';
import { ApiError, messageOf } from '../../../base/errors.ts';
import type { Store } from '../../store/store.ts';
import { notFound, unknownPath } from '../response/api-errors.ts';
import type { Call } from '../server-parts.ts';
import { storeKey } from '../types/resource-type.ts';

const LABEL_SERVICE_NAME = 'kubernetes.io/service-name';
const NAME = /^(?:(https?):)?([a-z0-9-]+)(?::([a-z0-9-]*))?$/;
/** Told to the API server, or about the connection to it. */
const WITHHELD = /^(?:authorization|cookie|host|content-length|expect|impersonate-.*|x-remote-.*)$/i;

export async function proxyService(call: Call): Promise<Response> {
  const { parts, path, request, type } = call;
  const { reachEndpoint } = parts.hooks;
  if (!reachEndpoint) throw unknownPath();
  const [, scheme = 'http', name, port = ''] = NAME.exec(path.name ?? '') ?? [];
  if (name === undefined) throw new ApiError('BadRequest', `invalid service request ${JSON.stringify(path.name)}`);
  const namespace = path.namespace ?? '';
  const service = parts.store.get(storeKey(type, namespace, name))?.value as unknown as Service | undefined; // checked by the schema
  if (!service) throw notFound(type, name);
  const target = endpointOf(parts.store, { service, namespace, port });
  if (!target) throw new ApiError('ServiceUnavailable', `no endpoints available for service ${JSON.stringify(path.name)}`);
  const url = `${scheme}://${target.host}:${target.port}${path.rawRest || '/'}${new URL(request.url).search}`;
  const headers = new Headers([...request.headers].filter(([header]) => !WITHHELD.test(header)));
  try {
    return await reachEndpoint({ url, method: request.method, headers, body: request.body, signal: request.signal });
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiError('ServiceUnavailable', `error trying to reach service: ${messageOf(error)}`, { cause: error });
  }
}

type Asked = { readonly service: Service; readonly namespace: string; readonly port: string };

function endpointOf(store: Store, { service, namespace, port }: Asked): { host: string; port: number } | undefined {
  const { ports = [] } = service.spec;
  const wanted = port === '' ? (ports.find(({ name }) => !name) ?? (ports.length === 1 ? ports[0] : undefined)) : ports.find(isNamed(port));
  if (!wanted) return undefined;
  const slices = store.list(`discovery.k8s.io/endpointslices/${namespace}/`).map(({ value }) => value as unknown as EndpointSlice); // as above
  for (const slice of slices.filter(({ metadata }) => metadata.labels?.[LABEL_SERVICE_NAME] === service.metadata.name)) {
    const number = slice.ports?.find(({ name }) => (name ?? '') === (wanted.name ?? ''))?.port;
    const host = slice.endpoints.find((endpoint) => isPodThatIs(store, { endpoint, namespace }))?.addresses[0];
    if (number !== undefined && host !== undefined) return { host, port: number };
  }
  return undefined;
}

function isNamed(port: string): (each: { readonly name?: string; readonly port: number }) => boolean {
  return ({ name, port: number }) => name === port || String(number) === port;
}

function isPodThatIs(store: Store, { endpoint, namespace }: { endpoint: EndpointSlice['endpoints'][number]; namespace: string }): boolean {
  const { targetRef, addresses, conditions } = endpoint;
  if (conditions?.ready === false || targetRef?.kind !== 'Pod') return false;
  const pod = store.get(`core/pods/${namespace}/${targetRef.name ?? ''}`)?.value as unknown as Pod | undefined; // as above
  return pod?.status?.podIP !== undefined && pod.status.podIP === addresses[0];
}

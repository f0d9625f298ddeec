/** virt-api: the server behind the aggregated API subresources.kubevirt.io. Who asks is told by the API server in front; whether they may is asked for each call. */
import { subresourceGroupPath } from '../api/kubevirt/subresource-path.ts';
import { SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { EXPAND_VM_SPEC } from '../api/kubevirt/subresources-table.ts';
import type { Clock } from '../base/clock.ts';
import { ApiError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { TlsIdentity } from '../base/node/https-fetch.ts';
import { FRONT_PROXY_NAME, type Pki } from '../base/node/pki.ts';
import type { Peer } from '../base/node/verified-peer.ts';
import { startWebServer, type Upgrade, type WebServer } from '../base/node/web-server.ts';
import type { Client } from '../client/client.ts';
import { answerReview, isReviewPath } from './admission/answer-review.ts';
import { group, groupList, kubeVirtVersionInfo, resourceList } from './discovery.ts';
import { type Caller, callerBehind } from './front-proxy.ts';
import { type ResourceAttributes, requireAccess } from './require-access.ts';
import { findExpansion, findRoute, type RouteMatch } from './routes.ts';
import { expandGiven } from './subresources/expand-spec.ts';

/** Our own certificate, the authority of the front proxy, and what we show to (and expect of) virt-handler; the last two are read for each call. */
export type VirtApiPki = Pick<Pki, 'virtApi' | 'frontProxyCa' | 'virtHandlerClient' | 'kubevirtCa'>;

export type VirtApiOptions = {
  readonly client: Client;
  readonly pki: VirtApiPki;
  /** The names that the front proxy may go by. */
  readonly frontProxyNames?: readonly string[];
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Shown under /version. */
  readonly version?: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the server. */
  readonly signal: AbortSignal;
};

/** `stopped` resolves after the signal, when the server is closed. */
export type VirtApi = WebServer & { readonly stopped: Promise<void> };

const BASE = `/apis/${SUBRESOURCES_GROUP}`;
/** Probes of the kubelet carry no certificate. */
const OPEN_PATHS = ['/healthz', '/livez', '/readyz', ...SUBRESOURCE_VERSIONS.map((version) => subresourceGroupPath('healthz', version))];

/** Resolves when the server accepts connections. */
export async function startVirtApi(options: VirtApiOptions): Promise<VirtApi> {
  const { pki, host, port, clock, log, signal } = options;
  const server = await startWebServer({
    serving: pki.virtApi,
    clientCa: pki.frontProxyCa,
    host,
    port,
    clock,
    log,
    async handle(request, { peer, rawHeaders }) {
      const { pathname } = new URL(request.url);
      if (OPEN_PATHS.includes(pathname)) return new Response('ok');
      if (isReviewPath(pathname)) return answerReview(request, pathname, { client: options.client, clock }); // webhooks are called without a client certificate
      const caller = callerBehind({ peer, allowedNames: namesOf(options), rawHeaders });
      return discoveryAnswer(pathname, options) ?? answer({ request, pathname, caller }, options);
    },
    upgrade: (upgrade, { peer }) => open(upgrade, peer, options),
  });
  const stopped = aborted(signal).then(() => server.close());
  return { ...server, stopped };
}

function discoveryAnswer(pathname: string, { version = 'unknown' }: VirtApiOptions): Response | undefined {
  if (pathname === '/apis') return Response.json(groupList());
  if (pathname === BASE) return Response.json(group());
  for (const each of SUBRESOURCE_VERSIONS) {
    if (pathname === `${BASE}/${each}`) return Response.json(resourceList(each));
    if (pathname === subresourceGroupPath('version', each)) return Response.json(kubeVirtVersionInfo(version));
  }
  return undefined;
}

async function answer(
  asked: { request: Request; pathname: string; caller: Caller },
  { client, log, pki }: VirtApiOptions,
): Promise<Response> {
  const { request, pathname, caller } = asked;
  const { user } = caller;
  const common = { client, log: log.with({ user }), user, request, handlerTls: handlerTlsOf(pki) };
  const expansion = findExpansion(pathname);
  if (expansion !== undefined) {
    if (request.method !== 'PUT') throw new ApiError('MethodNotAllowed', `${request.method} is not possible here, only PUT`);
    await requireAccess(client, caller, { resource: EXPAND_VM_SPEC.resource, namespace: expansion, verb: 'update' });
    return expandGiven({ ...common, namespace: expansion, name: '' });
  }
  const { route, namespace, name } = routeOf(pathname);
  if ('open' in route && request.method === 'GET')
    throw new ApiError('BadRequest', `${route.subresource} is a WebSocket: the request asks for no upgrade`);
  const isAllowed = request.method === 'GET' ? route.verbs.includes('get') : request.method === route.method;
  if ('open' in route || !isAllowed) throw new ApiError('MethodNotAllowed', `${request.method} is not possible here, only ${route.method}`);
  await requireAccess(client, caller, resourceAttributesOf({ route, namespace, name }));
  return route.answer({ ...common, namespace, name });
}

/** What does the same by GET and by PUT is a change either way. */
function resourceAttributesOf({ route, namespace, name }: RouteMatch): ResourceAttributes {
  const { resource, subresource } = route;
  return { resource, subresource, namespace, name, verb: route.method === 'GET' ? 'get' : 'update' };
}

function handlerTlsOf(pki: VirtApiPki): TlsIdentity {
  return { ...pki.virtHandlerClient, ca: pki.kubevirtCa };
}

/** Asked for at each request: on a cluster certificates and names change while we run. */
function namesOf({ frontProxyNames = [FRONT_PROXY_NAME] }: VirtApiOptions): readonly string[] {
  return frontProxyNames;
}

async function open(upgrade: Upgrade, peer: Peer | undefined, options: VirtApiOptions): Promise<void> {
  const { client, pki, log } = options;
  const { request } = upgrade;
  const caller = callerBehind({ peer, allowedNames: namesOf(options), rawHeaders: request.rawHeaders });
  const { user } = caller;
  const { route, namespace, name } = routeOf(new URL(`https://virt-api${request.url}`).pathname);
  if (!('open' in route)) throw new ApiError('BadRequest', `${route.subresource} is not a WebSocket`);
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') throw new ApiError('BadRequest', `${route.subresource} is a WebSocket`);
  await requireAccess(client, caller, resourceAttributesOf({ route, namespace, name }));
  await route.open({ client, log: log.with({ user }), namespace, name, user, upgrade, handlerTls: handlerTlsOf(pki) });
}

function routeOf(pathname: string): RouteMatch {
  const found = findRoute(pathname);
  if (!found) throw new ApiError('NotFound', 'the server could not find the requested resource');
  return found;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The API server: its parts, and how they are joined to a function from Request to Response. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { webHeaders } from '../../base/node/web-bridge.ts';
import type { Store } from '../store/store.ts';
import { authorize } from './access/authorize.ts';
import { impersonated } from './access/impersonate.ts';
import { OpenStreams } from './access/open-streams.ts';
import { PodsOfNodes } from './access/pods-of-nodes.ts';
import { upgradeAttributesOf } from './access/request-attributes.ts';
import { RuleIndex } from './access/rule-index.ts';
import { ServiceAccountTokens } from './access/service-account-tokens.ts';
import { AggregatedApis } from './aggregation/aggregated-apis.ts';
import { keepApiServices, keepLocalApiServices } from './aggregation/keep-api-services.ts';
import { bootstrap, type SelfRequest } from './bootstrap.ts';
import { Conversions } from './conversion/conversions.ts';
import { ServiceClaims } from './kinds/service-claims.ts';
import { strategiesFor } from './kinds/strategies.ts';
import type { HealthCheck } from './non-resource/health.ts';
import { RequestMetrics } from './non-resource/request-metrics.ts';
import { expireEvents } from './objects/expire-events.ts';
import { startCleanup } from './objects/finalize-namespaces-and-crds.ts';
import { OpenApiDocuments } from './openapi/serve-openapi.ts';
import { keepQuotaStatus } from './quota/keep-quota-status.ts';
import { NamespaceShares, type Shares } from './quota/namespace-shares.ts';
import { QuotaLedger } from './quota/quota-ledger.ts';
import { FlowControl } from './request/flow-control.ts';
import { parseResourcePath } from './request/path-grammar.ts';
import { unknownPath } from './response/api-errors.ts';
import { Renderer } from './response/render.ts';
import type { Hooks, Identity, ServerParts } from './server-parts.ts';
import { podOfStream } from './subresources/pod-stream.ts';
import { BUILT_IN_KINDS, METRICS_KINDS } from './types/built-in-kinds-table.ts';
import { builtInTypes } from './types/built-in-types.ts';
import { ResourceRegistry } from './types/resource-registry.ts';
import type { AnyObject } from './types/resource-type.ts';
import { answerRequest, permissionOf } from './verbs/answer-request.ts';

export type ApiServerOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hooks?: Hooks;
  /** PEM; without it there are no tokens of service accounts. */
  readonly signingKey?: string;
  /** How much memory the objects of namespaces may take; by the size of the heap when not given. */
  readonly shares?: Shares;
};

/** What of a request decides who may make it; node's own requests have these fields, too. */
type Asked = { readonly method?: string; readonly url?: string; readonly rawHeaders?: readonly string[] };

/** Which stream of a Pod is asked for. */
export type PodStream = { readonly subresource: string; readonly query: URLSearchParams };

/** Who takes a connection over that leaves HTTP. */
type Forward = {
  toService(apiService: AnyObject, identity: Identity): Promise<void>;
  toPod(pod: AnyObject, stream: PodStream): Promise<void>;
};

type AskedUpgrade = {
  readonly request: Asked;
  readonly identity: Identity;
  readonly socket: { once(event: 'close', listener: () => void): unknown; destroy(): unknown };
};

export type ApiServer = {
  /** Answers any request; failures are Status objects, nothing is thrown. */
  handle(request: Request, identity: Identity): Promise<Response>;
  /** Authorizes a connection that leaves HTTP (console, VNC, exec) and hands it to `forward`; ends it when that is no longer allowed; rejects with the ApiError to answer otherwise. */
  upgrade(asked: AskedUpgrade, forward: Forward): Promise<void>;
  /** The owner of a bearer token, undefined when it is good for nothing. */
  reviewToken(token: string): Identity | undefined;
  /** Ends every watch; the store stays open. */
  close(): void;
};

const SELF: Identity = { user: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
const STARTING = 'the objects that every cluster has are not there yet';
const STOPPING = 'the server is shutting down';
const BASE_URL = 'https://kubernetes.default.svc';

/** A server that is ready: the objects every cluster has are there, and deletions that were under way go on. */
export async function createApiServer({ store, clock, log, hooks = {}, signingKey, shares }: ApiServerOptions): Promise<ApiServer> {
  const closing = new AbortController();
  const serviceClaims = new ServiceClaims(store);
  const registry = new ResourceRegistry(store, builtInTypes(strategiesFor({ store, clock, serviceClaims }), kindsFor(hooks)));
  const rules = new RuleIndex(store);
  const podsOfNodes = new PodsOfNodes(store);
  const quotas = new QuotaLedger(store);
  const namespaceShares = new NamespaceShares(store, shares);
  const tokens = signingKey === undefined ? undefined : new ServiceAccountTokens({ store, clock, signingKey });
  const conversions = new Conversions(hooks.askWebhook);
  const parts: ServerParts = {
    store,
    registry,
    rules,
    podsOfNodes,
    quotas,
    namespaceShares,
    tokens,
    renderer: new Renderer(conversions),
    conversions,
    flowControl: new FlowControl(),
    openStreams: new OpenStreams({ store, clock, log, signal: closing.signal }),
    requestMetrics: hooks.metricFamilies && new RequestMetrics(hooks.metricFamilies, registry, closing.signal),
    clock,
    log,
    hooks,
    closed: closing.signal,
  };
  const aggregated = new AggregatedApis({ store, hooks, clock, log });
  let problem: string | undefined = STARTING;
  const others = {
    store,
    registry,
    aggregated,
    openApi: new OpenApiDocuments(registry),
    tokens,
    metricFamilies: hooks.metricFamilies,
    healthChecks: healthChecksOf({ store, hooks, whyNotServing: () => problem }),
  };

  const handle: ApiServer['handle'] = (request, identity) => answerRequest({ parts, aggregated, others }, request, identity);
  const selfRequest: SelfRequest = (method, path, body) => {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    return handle(new Request(new URL(path, BASE_URL), { method, headers, body: body && JSON.stringify(body) }), SELF);
  };

  await bootstrap({ store, request: selfRequest });
  startCleanup({ store, registry, request: selfRequest, clock, log, signal: closing.signal });
  void expireEvents({ store, clock, log, signal: closing.signal });
  void keepQuotaStatus({ store, ledger: quotas, request: selfRequest, clock, log, signal: closing.signal });
  const apiServices = { store, registry, aggregated, request: selfRequest, clock };
  await keepLocalApiServices(apiServices);
  void keepApiServices({ ...apiServices, log, signal: closing.signal });
  problem = undefined;
  return {
    handle,
    async upgrade({ request, identity: caller, socket }, forward) {
      const headers = webHeaders(request.rawHeaders ?? []);
      const identity = impersonated(rules, caller, headers);
      const url = new URL(request.url ?? '/', BASE_URL);
      const attributes = upgradeAttributesOf(request.method ?? 'GET', url);
      authorize(rules, identity, attributes);
      const path = parseResourcePath(url.pathname);
      const permission = permissionOf(rules, { caller, identity, headers, attributes });
      if (!path) throw unknownPath();
      const apiService = aggregated.find(path.group, path.version);
      const pod = apiService ? undefined : podOfStream(parts, { method: request.method ?? 'GET', path, query: url.searchParams });
      if (!apiService && !pod) throw unknownPath();
      const leave = parts.flowControl.enter(identity, 'stream');
      const forget = parts.openStreams.add({ ...permission, end: () => socket.destroy() });
      socket.once('close', () => {
        forget();
        leave?.();
      });
      if (apiService) await forward.toService(apiService, identity);
      else if (pod) await forward.toPod(pod, { subresource: path.subresource ?? '', query: url.searchParams });
    },
    reviewToken: (token) => tokens?.review(token)?.identity,
    close() {
      problem = STOPPING;
      closing.abort();
      rules.close();
      podsOfNodes.close();
      quotas.close();
      namespaceShares.close();
      serviceClaims.close();
    },
  };
}

type Health = { readonly store: Store; readonly hooks: Hooks; readonly whyNotServing: () => string | undefined };

/** By the names that Kubernetes has for them; the store is what etcd is there. */
function healthChecksOf({ store, hooks, whyNotServing }: Health): HealthCheck[] {
  const why = (wanted: string) => () => (whyNotServing() === wanted ? wanted : undefined);
  return [
    { name: 'ping', whyNot: () => undefined },
    { name: 'log', whyNot: () => undefined },
    { name: 'etcd', whyNot: () => store.whyNotWritable },
    { name: 'poststarthook/rbac/bootstrap-roles', whyNot: why(STARTING), isOfReadiness: true },
    { name: 'virt-api', whyNot: () => hooks.whyNotReady?.(), isOfReadiness: true },
    { name: 'shutdown', whyNot: why(STOPPING), isOfReadiness: true },
  ];
}

function kindsFor({ metrics }: Hooks) {
  return metrics ? [...BUILT_IN_KINDS, ...METRICS_KINDS] : BUILT_IN_KINDS;
}

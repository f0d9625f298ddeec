/** The API server as a function from Request to Response: who asks, what is asked, who answers. */
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { webHeaders } from '../../base/node/web-bridge.ts';
import type { Store } from '../store/store.ts';
import { authorize } from './access/authorize.ts';
import { impersonated } from './access/impersonate.ts';
import { assertNodeMayRead } from './access/node-restriction.ts';
import { OpenStreams } from './access/open-streams.ts';
import { PodsOfNodes } from './access/pods-of-nodes.ts';
import { attributesOf } from './access/request-attributes.ts';
import { RuleIndex } from './access/rule-index.ts';
import { ServiceAccountTokens } from './access/service-account-tokens.ts';
import { AggregatedApis } from './aggregation/aggregated-apis.ts';
import { keepApiServices, keepLocalApiServices } from './aggregation/keep-api-services.ts';
import { bootstrap, type SelfRequest } from './bootstrap.ts';
import { strategiesFor } from './kinds/strategies.ts';
import { answerNonResource, type NonResourceParts } from './non-resource/non-resource-paths.ts';
import { expireEvents } from './objects/expire-events.ts';
import { startCleanup } from './objects/finalize-namespaces-and-crds.ts';
import { OpenApiDocuments } from './openapi/serve-openapi.ts';
import { FlowControl } from './request/flow-control.ts';
import { parseResourcePath, type ResourcePath, verbOf } from './request/path-grammar.ts';
import { methodNotAllowed, unknownPath } from './response/api-errors.ts';
import { Renderer } from './response/render.ts';
import { respondError } from './response/respond.ts';
import { revocableBody } from './response/revocable-body.ts';
import type { Call, Hooks, Identity, ServerParts } from './server-parts.ts';
import { builtInTypes } from './types/built-in-types.ts';
import { ResourceRegistry } from './types/resource-registry.ts';
import type { AnyObject, ResourceType } from './types/resource-type.ts';
import { answerForVerb } from './verbs/verb-table.ts';

export type ApiServerOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hooks?: Hooks;
  /** PEM; without it there are no tokens of service accounts. */
  readonly signingKey?: string;
};

/** What of a request decides who may make it; node's own requests have these fields, too. */
type Asked = { readonly method?: string; readonly url?: string; readonly rawHeaders?: readonly string[] };

type AskedUpgrade = {
  readonly request: Asked;
  readonly identity: Identity;
  readonly socket: { once(event: 'close', listener: () => void): unknown; destroy(): unknown };
};

export type ApiServer = {
  /** Answers any request; failures are Status objects, nothing is thrown. */
  handle(request: Request, identity: Identity): Promise<Response>;
  /** Authorizes a connection that leaves HTTP (console, VNC) and hands it to `forward`; ends it when that is no longer allowed; rejects with the ApiError to answer otherwise. */
  upgrade(asked: AskedUpgrade, forward: (apiService: AnyObject, identity: Identity) => Promise<void>): Promise<void>;
  /** The owner of a bearer token, undefined when it is good for nothing. */
  reviewToken(token: string): Identity | undefined;
  /** Ends every watch; the store stays open. */
  close(): void;
};

const SELF: Identity = { user: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
const BASE_URL = 'https://kubernetes.default.svc';

/** A server that is ready: the objects every cluster has are there, and deletions that were under way go on. */
export async function createApiServer({ store, clock, log, hooks = {}, signingKey }: ApiServerOptions): Promise<ApiServer> {
  const closing = new AbortController();
  const registry = new ResourceRegistry(store, builtInTypes(strategiesFor({ store, clock })));
  const rules = new RuleIndex(store);
  const podsOfNodes = new PodsOfNodes(store);
  const tokens = signingKey === undefined ? undefined : new ServiceAccountTokens({ store, clock, signingKey });
  const parts: ServerParts = {
    store,
    registry,
    rules,
    podsOfNodes,
    tokens,
    renderer: new Renderer(),
    flowControl: new FlowControl(),
    openStreams: new OpenStreams({ store, clock, log, signal: closing.signal }),
    clock,
    log,
    hooks,
    closed: closing.signal,
  };
  const aggregated = new AggregatedApis({ store, hooks, clock, log });
  let problem: string | undefined = 'starting';
  const others = {
    store,
    registry,
    aggregated,
    openApi: new OpenApiDocuments(registry),
    tokens,
    whyNotReady: () => problem ?? hooks.whyNotReady?.(),
  };

  async function handle(request: Request, identity: Identity): Promise<Response> {
    const response = await respond(request, identity);
    const { method, url } = request;
    if (method !== 'GET')
      log.debug('write', { user: identity.user, method, path: url.slice(new URL(url).origin.length), code: response.status });
    return response;
  }

  async function respond(request: Request, caller: Identity): Promise<Response> {
    let leave = () => {};
    try {
      const identity = impersonated(rules, caller, request.headers);
      leave = parts.flowControl.enter(identity, 'request');
      return await answer({ parts, aggregated, others }, { request, caller, identity });
    } catch (error) {
      if (!(error instanceof ApiError)) log.error('request failed', { method: request.method, url: request.url, error });
      return respondError(error);
    } finally {
      leave();
    }
  }

  const selfRequest: SelfRequest = (method, path, body) => {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    return handle(new Request(new URL(path, BASE_URL), { method, headers, body: body && JSON.stringify(body) }), SELF);
  };

  await bootstrap({ store, request: selfRequest });
  startCleanup({ store, registry, request: selfRequest, clock, log, signal: closing.signal });
  void expireEvents({ store, clock, log, signal: closing.signal });
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
      const attributes = attributesOf(request.method ?? 'GET', url);
      authorize(rules, identity, attributes);
      const path = parseResourcePath(url.pathname);
      const apiService = path && aggregated.find(path.group, path.version);
      if (!apiService) throw unknownPath();
      const isAllowed = () => isStillAllowed(rules, { caller, headers, attributes });
      socket.once('close', parts.openStreams.add({ user: identity.user, isAllowed, end: () => socket.destroy() }));
      await forward(apiService, identity);
    },
    reviewToken: (token) => tokens?.review(token)?.identity,
    close() {
      problem = 'shutting down';
      closing.abort();
      rules.close();
      podsOfNodes.close();
    },
  };
}

type Routes = { readonly parts: ServerParts; readonly aggregated: AggregatedApis; readonly others: NonResourceParts };

type Answered = { readonly request: Request; readonly caller: Identity; readonly identity: Identity };

/** Who may, before what is there: a stranger learns nothing from the difference. */
async function answer({ parts, aggregated, others }: Routes, { request, caller, identity }: Answered): Promise<Response> {
  const url = new URL(request.url);
  const attributes = attributesOf(request.method, url);
  authorize(parts.rules, identity, attributes);
  assertNodeMayRead(parts.podsOfNodes, identity, attributes);
  const path = parseResourcePath(url.pathname);
  if (!path) return answerNonResource(others, request, { url, identity });
  const verb = verbOf(request.method, path, url.searchParams);
  if (!verb) throw methodNotAllowed();
  const isAllowed = () => isStillAllowed(parts.rules, { caller, headers: request.headers, attributes });
  const apiService = aggregated.find(path.group, path.version);
  if (apiService) return whileAllowed(parts, await aggregated.forward(apiService, request, identity), { user: identity.user, isAllowed });
  const type = typeFor(parts.registry, path);
  const warnings = type.deprecationWarning === undefined ? [] : [type.deprecationWarning];
  const call: Call = { parts, type, path, query: url.searchParams, request, identity, warnings, isAllowed };
  try {
    const response = await answerForVerb(call, verb)(call);
    // A watch sees to itself; of the others only these can go on.
    return ['log', 'proxy'].includes(path.subresource ?? '') ? whileAllowed(parts, response, { user: identity.user, isAllowed }) : response;
  } catch (error) {
    if (error instanceof ApiError) return respondError(error, warnings); // what was noticed before it was refused is told all the same
    throw error;
  }
}

type Permission = { readonly caller: Identity; readonly headers: Headers; readonly attributes: Parameters<typeof authorize>[2] };

/** As when the request came: throws Forbidden, or resolves with false when the credentials are good for nothing any more. */
async function isStillAllowed(rules: RuleIndex, { caller, headers, attributes }: Permission): Promise<boolean> {
  authorize(rules, impersonated(rules, caller, headers), attributes);
  return caller.isStillProven?.() ?? true;
}

/** The answer, cut off when its user may no longer have it. */
function whileAllowed(
  { openStreams }: ServerParts,
  response: Response,
  { user, isAllowed }: { readonly user: string; readonly isAllowed: () => Promise<boolean> },
): Response {
  // What says how long it is is over soon.
  if (!response.body || response.headers.has('content-length')) return response;
  let leave = () => {};
  const { body, cut } = revocableBody(response.body, () => leave());
  leave = openStreams.add({ user, isAllowed, end: () => cut(new ApiError('Forbidden', 'the right to this was taken away')) });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}

/** The type a path names; NotFound when there is none, or when its scope does not fit the path. */
function typeFor(registry: ResourceRegistry, { group, version, resource, namespace, name }: ResourcePath): ResourceType {
  const type = registry.find(group, version, resource);
  if (!type) throw unknownPath(hintFor(registry, { group, version, resource }));
  const isMisplaced = type.isNamespaced ? namespace === undefined && name !== undefined : namespace !== undefined;
  if (isMisplaced) throw unknownPath();
  return type;
}

/** The mistake everybody makes once: the singular, a short name or the kind in place of the plural. */
function hintFor(
  registry: ResourceRegistry,
  { group, version, resource }: { group: string; version: string; resource: string },
): string | undefined {
  const word = resource.toLowerCase();
  const meant = registry
    .types()
    .find((type) => type.group === group && type.version === version && [type.plural, type.singular, ...type.shortNames].includes(word));
  return meant && `the name of this resource is "${meant.plural}"`;
}

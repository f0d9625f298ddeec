/** From a request to its answer: who may, what is asked for, and which function answers. */
import { ApiError } from '../../../base/errors.ts';
import { isLasting, revocableBody } from '../../../base/revocable-body.ts';
import { answerAccessReview } from '../access/access-reviews.ts';
import { authorize } from '../access/authorize.ts';
import { impersonated } from '../access/impersonate.ts';
import { assertNodeMayRead } from '../access/node-restriction.ts';
import type { Permission } from '../access/open-streams.ts';
import type { Attributes } from '../access/policy-rule.ts';
import { attributesOf } from '../access/request-attributes.ts';
import type { RuleIndex } from '../access/rule-index.ts';
import type { AggregatedApis } from '../aggregation/aggregated-apis.ts';
import { answerNonResource, type NonResourceParts } from '../non-resource/non-resource-paths.ts';
import { flowOf, type Leave } from '../request/flow-control.ts';
import { parseResourcePath, type ResourcePath, type Verb, verbOf } from '../request/path-grammar.ts';
import { methodNotAllowed, unknownPath } from '../response/api-errors.ts';
import { respondError } from '../response/respond.ts';
import type { Call, Identity, ServerParts } from '../server-parts.ts';
import { bind } from '../subresources/binding.ts';
import { evict } from '../subresources/eviction.ts';
import { log } from '../subresources/log.ts';
import { podOfStream } from '../subresources/pod-stream.ts';
import { proxyService } from '../subresources/proxy-service.ts';
import { getScale, patchScale, updateScale } from '../subresources/scale.ts';
import { createToken } from '../subresources/token.ts';
import { METRICS_GROUP } from '../types/built-in-kinds-table.ts';
import type { ResourceRegistry } from '../types/resource-registry.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { create } from './create.ts';
import { deleteOne } from './delete.ts';
import { deleteCollection } from './delete-collection.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { getMetrics, listMetrics } from './metrics.ts';
import { patch } from './patch.ts';
import { update } from './update.ts';
import { watch } from './watch.ts';

type Answer = (call: Call) => Promise<Response>;

const VERBS: Readonly<Record<Verb, Answer>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};
const SUBRESOURCES: Readonly<Record<string, Partial<Record<Verb, Answer>>>> = {
  status: { get, update, patch },
  finalize: { update },
  scale: { get: getScale, update: updateScale, patch: patchScale },
  binding: { create: bind },
  eviction: { create: evict },
  token: { create: createToken },
  log: { get: log },
  proxy: { get: proxyService, create: proxyService, update: proxyService, patch: proxyService, delete: proxyService },
  exec: { get: needsUpgrade, create: needsUpgrade },
  attach: { get: needsUpgrade, create: needsUpgrade },
  portforward: { get: needsUpgrade, create: needsUpgrade },
  ephemeralcontainers: { get, update, patch },
};

type Routes = { readonly parts: ServerParts; readonly aggregated: AggregatedApis; readonly others: NonResourceParts };

/** Answers any request; failures are Status objects, nothing is thrown. */
export async function answerRequest(routes: Routes, request: Request, caller: Identity): Promise<Response> {
  const response = await respond(routes, request, caller);
  const { method, url } = request;
  if (method !== 'GET')
    routes.parts.log.debug('write', { user: caller.user, method, path: url.slice(new URL(url).origin.length), code: response.status });
  return response;
}

async function respond(routes: Routes, request: Request, caller: Identity): Promise<Response> {
  const { rules, flowControl, log } = routes.parts;
  let leave: Leave | undefined;
  let attributes: Attributes | undefined;
  const counted = (response: Response): Response => {
    routes.parts.requestMetrics?.count(attributes, response.status);
    return response;
  };
  try {
    const identity = impersonated(rules, caller, request.headers);
    const url = new URL(request.url);
    attributes = attributesOf(request.method, url);
    leave = flowControl.enter(identity, flowOf(attributes));
    const response = counted(await answer(routes, { request, caller, identity, url, attributes }));
    return leave ? countedUntilTaken(response, leave, request.signal) : response;
  } catch (error) {
    leave?.();
    if (!(error instanceof ApiError)) log.error('request failed', { method: request.method, url: request.url, error });
    return counted(respondError(error));
  }
}

/** A client that asks and does not read takes as much as one that asks and waits. */
function countedUntilTaken(response: Response, leave: Leave, signal: AbortSignal): Response {
  if (!response.body || signal.aborted) {
    leave();
    return response;
  }
  signal.addEventListener('abort', leave, { once: true });
  const { body } = revocableBody(response.body, () => {
    signal.removeEventListener('abort', leave);
    leave();
  });
  return new Response(body, response);
}

type Answered = {
  readonly request: Request;
  readonly caller: Identity;
  readonly identity: Identity;
  readonly url: URL;
  readonly attributes: Attributes;
};

/** Who may, before what is there: a stranger learns nothing from the difference. */
async function answer({ parts, aggregated, others }: Routes, { request, caller, identity, url, attributes }: Answered): Promise<Response> {
  authorize(parts.rules, identity, attributes);
  assertNodeMayRead(parts, identity, attributes);
  const path = parseResourcePath(url.pathname);
  if (!path) return answerNonResource(others, request, { url, identity });
  const verb = verbOf(request.method, path, url.searchParams);
  if (!verb) throw methodNotAllowed();
  const permission = permissionOf(parts.rules, { caller, identity, headers: request.headers, attributes });
  const apiService = aggregated.find(path.group, path.version);
  if (apiService) return whileAllowed(parts, await aggregated.forward(apiService, request, identity), permission);
  const type = typeFor(parts.registry, path);
  const warnings = type.deprecationWarning === undefined ? [] : [type.deprecationWarning];
  const call: Call = { parts, type, path, query: url.searchParams, request, identity, warnings, permission };
  try {
    const response = await answerForVerb(call, verb)(call);
    // A watch sees to itself; of the others only these can go on.
    return ['log', 'proxy'].includes(path.subresource ?? '') ? whileAllowed(parts, response, permission) : response;
  } catch (error) {
    if (error instanceof ApiError) return respondError(error, warnings); // what was noticed before it was refused is told all the same
    throw error;
  }
}

/** The function for a call; unknown subresources are NotFound, verbs they do not have MethodNotAllowed. */
function answerForVerb({ type, path }: Pick<Call, 'type' | 'path'>, verb: Verb): Answer {
  if (path.subresource !== undefined) {
    if (!type.subresources.includes(path.subresource)) throw unknownPath();
    const answer = SUBRESOURCES[path.subresource]?.[verb];
    if (!answer) throw methodNotAllowed();
    return answer;
  }
  if (!type.verbs.includes(verb)) throw methodNotAllowed();
  if (type.isBuiltIn && type.group === METRICS_GROUP) return verb === 'get' ? getMetrics : listMetrics;
  return type.verbs.length === 1 ? answerAccessReview : VERBS[verb];
}

async function needsUpgrade({ parts, request: { method }, path, query }: Call): Promise<Response> {
  podOfStream(parts, { method, path, query });
  throw new ApiError('BadRequest', 'Upgrade request required');
}

type Allowed = { readonly caller: Identity; readonly identity: Identity; readonly headers: Headers; readonly attributes: Attributes };

/** Asks as when the request came. */
export function permissionOf(rules: RuleIndex, { caller, identity, headers, attributes }: Allowed): Permission {
  const { isStillProven } = caller;
  const isAllowed = async () => {
    authorize(rules, impersonated(rules, caller, headers), attributes);
    return isStillProven?.() ?? true;
  };
  return { user: identity.user, isAllowed, isStillProven };
}

/** The answer, cut off when its user may no longer have it. */
function whileAllowed({ openStreams }: ServerParts, response: Response, permission: Permission): Response {
  if (!response.body || !isLasting(response)) return response;
  let leave = () => {};
  const { body, cut } = revocableBody(response.body, () => leave());
  leave = openStreams.add({ ...permission, end: () => cut(new ApiError('Forbidden', 'the right to this was taken away')) });
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

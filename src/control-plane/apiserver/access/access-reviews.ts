/** Kinds that are questions: who am I, whose token is this, what may I do, what may somebody else do. Asked by POST, answered at once, never stored. */
import { apiVersionOf } from '../../../api/resource.ts';
import { ApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { decodeBody } from '../request/decode-body.ts';
import { respondJson } from '../response/respond.ts';
import type { Call, Identity } from '../server-parts.ts';
import { isAuthorized, isMaster } from './authorize.ts';
import type { Attributes } from './policy-rule.ts';

type Answer = (call: Call, spec: JsonObject) => JsonObject;

const ANSWERS: Readonly<Record<string, Answer>> = {
  SelfSubjectReview: ({ identity }) => ({ userInfo: userInfo(identity) }),
  TokenReview: (call, spec) => tokenAnswer(call, spec),
  SelfSubjectAccessReview: (call, spec) => answer(call, call.identity, spec),
  SubjectAccessReview: (call, spec) => answer(call, subjectOf(spec), spec),
  LocalSubjectAccessReview: (call, spec) => {
    const attributes = isObject(spec['resourceAttributes']) ? spec['resourceAttributes'] : {};
    if (attributes['namespace'] !== call.path.namespace) {
      throw new ApiError('BadRequest', 'spec.resourceAttributes.namespace must be the namespace of the request');
    }
    return answer(call, subjectOf(spec), spec);
  },
  SelfSubjectRulesReview: (call, spec) => rulesAnswer(call, spec),
};

export async function answerAccessReview(call: Call): Promise<Response> {
  const answerTo = ANSWERS[call.type.kind];
  if (!answerTo) throw new ApiError('InternalError', `${call.type.kind} has no answer`);
  const body = (await decodeBody(call.request)) ?? {};
  const spec = isObject(body['spec']) ? body['spec'] : {};
  const type = { kind: call.type.kind, apiVersion: apiVersionOf(call.type) };
  const metadata = isObject(body['metadata']) ? body['metadata'] : {};
  return respondJson(
    { ...type, metadata, ...(body['spec'] !== undefined && { spec }), status: answerTo(call, spec) },
    { status: 201, request: call.request },
  );
}

function userInfo({ user, groups, uid, extra }: Identity): JsonObject {
  return { username: user, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

function tokenAnswer({ parts }: Call, { token, audiences }: JsonObject): JsonObject {
  if (typeof token !== 'string' || token === '') throw new ApiError('BadRequest', 'token is required for TokenReview in authentication');
  const wanted = textsOf('spec.audiences', audiences);
  const found = parts.tokens?.review(token, wanted);
  if (!found) return { authenticated: false, user: {}, error: 'the token is not valid for these audiences' };
  return { authenticated: true, user: userInfo(found.identity), audiences: found.audiences };
}

function answer({ parts }: Call, identity: Identity, spec: JsonObject): JsonObject {
  const attributes = attributesOf(spec);
  if (!attributes) throw new ApiError('BadRequest', 'exactly one of nonResourceAttributes or resourceAttributes must be specified');
  const isAllowed = isAuthorized(parts.rules, identity, attributes);
  return { allowed: isAllowed, ...(!isAllowed && { reason: 'no RBAC policy matched' }) };
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: JsonObject): Attributes | undefined {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  if (isObject(nonResourceAttributes)) {
    return { type: 'path', verb: text(nonResourceAttributes['verb']), path: text(nonResourceAttributes['path']) };
  }
  if (!isObject(resourceAttributes)) return undefined;
  const { verb, group, resource, subresource, namespace, name } = resourceAttributes;
  return {
    type: 'resource',
    verb: text(verb),
    group: text(group),
    resource: text(resource),
    subresource: text(subresource) || undefined,
    namespace: text(namespace) || undefined,
    name: text(name) || undefined,
  };
}

function subjectOf({ user, groups }: JsonObject): Identity {
  return { user: typeof user === 'string' ? user : '', groups: textsOf('spec.groups', groups) };
}

function textsOf(field: string, value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    throw new ApiError('BadRequest', `${field} must be a list of strings`);
  return value;
}

function rulesAnswer({ parts, identity }: Call, { namespace }: JsonObject): JsonObject {
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
  const rules = [...parts.rules.rulesFor(identity, typeof namespace === 'string' ? namespace : 'default')];
  const isAllMighty = isMaster(identity);
  return {
    resourceRules: isAllMighty ? [everything] : rules.filter((rule) => (rule.resources ?? []).length > 0),
    nonResourceRules: isAllMighty
      ? [{ verbs: ['*'], nonResourceURLs: ['*'] }]
      : rules.filter((rule) => (rule.nonResourceURLs ?? []).length > 0).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
  };
}

/**
 * Who may do what, in one place. First match wins:
 *
 *   group system:masters                                      everything
 *   our own components (service accounts of kubevirt and
 *   kube-system, nodes)                                       everything
 *   anybody                                                   health and version
 *   anybody with a name                                       discovery, questions about themselves
 *   a rule of a role that is bound to them (RBAC)             what the rule says
 *   otherwise                                                 Forbidden
 */
import { ApiError } from '../../base/errors.ts';
import type { Store } from '../store/store.ts';
import { forbidden } from './api-errors.ts';
import type { Verb } from './path-grammar.ts';
import type { Identity } from './server-parts.ts';

export type Attributes =
  | {
      readonly type: 'resource';
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string | undefined;
      readonly namespace: string | undefined;
      readonly name: string | undefined;
    }
  | { readonly type: 'path'; readonly verb: string; readonly path: string };

type PolicyRule = {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
};
type Subject = { readonly kind: string; readonly name: string; readonly namespace?: string };
type Binding = {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly Subject[];
};

const RBAC = 'rbac.authorization.k8s.io';
const ANONYMOUS = 'system:anonymous';
const COMPONENTS = ['system:serviceaccount:kubevirt:', 'system:serviceaccount:kube-system:', 'system:node:'];
const PUBLIC_PATHS = /^\/(?:healthz|livez|readyz)(?:\/|$)|^\/version\/?$/;
const DISCOVERY_PATHS = /^\/(?:api|apis|openapi)(?:\/|$)/;
const SELF_REVIEWS = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'];

/** True when the identity may do this. */
export function isAuthorized(store: Store, identity: Identity, attributes: Attributes): boolean {
  if (identity.groups.includes('system:masters')) return true;
  if (COMPONENTS.some((prefix) => identity.user.startsWith(prefix))) return true;
  if (attributes.type === 'path' && attributes.verb === 'get' && PUBLIC_PATHS.test(attributes.path)) return true;
  if (identity.user !== ANONYMOUS && isForEverybodyWithAName(attributes)) return true;
  return rulesFor(store, identity, attributes.type === 'resource' ? attributes.namespace : undefined).some((rule) =>
    allows(rule, attributes),
  );
}

/** Throws Forbidden with the text that every client knows. */
export function authorize(store: Store, identity: Identity, attributes: Attributes): void {
  if (isAuthorized(store, identity, attributes)) return;
  const who = `User ${JSON.stringify(identity.user)} cannot ${attributes.verb}`;
  if (attributes.type === 'path') throw new ApiError('Forbidden', `forbidden: ${who} path ${JSON.stringify(attributes.path)}`);
  const { group, resource, subresource, namespace, name } = attributes;
  const what = `resource "${resource}${subresource ? `/${subresource}` : ''}" in API group "${group}"`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  throw forbidden({ plural: resource, group }, name, `${who} ${what} ${where}`);
}

function isForEverybodyWithAName(attributes: Attributes): boolean {
  if (attributes.type === 'path') return attributes.verb === 'get' && DISCOVERY_PATHS.test(attributes.path);
  return (
    attributes.verb === 'create' &&
    /^auth(entication|orization)\.k8s\.io$/.test(attributes.group) &&
    SELF_REVIEWS.includes(attributes.resource)
  );
}

/** Every rule that the identity holds cluster-wide and, if one is named, in a namespace. */
export function rulesFor(store: Store, identity: Identity, namespace: string | undefined): PolicyRule[] {
  const cluster = bindings(store, `${RBAC}/clusterrolebindings/`);
  const local = namespace === undefined ? [] : bindings(store, `${RBAC}/rolebindings/${namespace}/`);
  return [...cluster, ...local]
    .filter((binding) => binding.subjects?.some((subject) => isSubject(subject, identity, binding.metadata.namespace)))
    .flatMap(({ roleRef, metadata }) => roleRules(store, roleRef, metadata.namespace));
}

function bindings(store: Store, prefix: string): Binding[] {
  return store.list(prefix).map(({ value }) => value as Binding); // checked by the schema when it was written
}

function roleRules(store: Store, roleRef: Binding['roleRef'], namespace: string | undefined): readonly PolicyRule[] {
  const key = roleRef.kind === 'ClusterRole' ? `${RBAC}/clusterroles//${roleRef.name}` : `${RBAC}/roles/${namespace ?? ''}/${roleRef.name}`;
  const role = store.get(key)?.value as { rules?: readonly PolicyRule[] | null } | undefined; // checked by the schema when it was written
  return role?.rules ?? [];
}

function isSubject(subject: Subject, { user, groups }: Identity, bindingNamespace: string | undefined): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === user;
    case 'Group':
      return groups.includes(subject.name) || (subject.name === 'system:authenticated' && user !== ANONYMOUS);
    case 'ServiceAccount':
      return user === `system:serviceaccount:${subject.namespace ?? bindingNamespace ?? ''}:${subject.name}`;
    default:
      return false;
  }
}

function allows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false;
  if (attributes.type === 'path') {
    return (rule.nonResourceURLs ?? []).some((url) =>
      url.endsWith('*') ? attributes.path.startsWith(url.slice(0, -1)) : attributes.path === url,
    );
  }
  const { group, resource, subresource, name } = attributes;
  const resources = rule.resources ?? [];
  const isNamed = resources.includes('*') || resources.includes(subresource ? `${resource}/${subresource}` : resource);
  const isAnySub = subresource !== undefined && resources.includes(`*/${subresource}`);
  if (!has(rule.apiGroups, group) || !(isNamed || isAnySub)) return false;
  const names = rule.resourceNames ?? [];
  return names.length === 0 || (name !== undefined && names.includes(name));
}

function has(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(value));
}

/** The name a request is about: a collection request that selects one name counts as being about it. */
export function nameForAuthorization(verb: Verb, name: string | undefined, query: URLSearchParams): string | undefined {
  if (name !== undefined || verb === 'create') return name;
  return /(?:^|,)metadata\.name==?([^,]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '')?.[1];
}

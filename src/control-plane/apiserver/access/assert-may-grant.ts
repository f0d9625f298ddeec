/**
 * Nobody gives away more than they hold. Checked for every write to a role or a binding:
 *
 *   a role        its writer holds every rule of it, or may `escalate` that role
 *   a binding     its writer holds every rule of the role, or may `bind` that role
 *   aggregation   its writer holds everything: what the role will contain is up to others
 */
import { deepEqual, isObject } from '../../../base/json.ts';
import { forbidden, notFound } from '../response/api-errors.ts';
import type { AdmissionAttributes, ServerParts } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';
import { isAuthorized, isMaster } from './authorize.ts';
import { type PolicyRule, uncovered } from './policy-rule.ts';

const GROUP = 'rbac.authorization.k8s.io';
const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

type Parts = Pick<ServerParts, 'rules' | 'store'>;

/** Throws Forbidden when the write would grant what its writer does not hold. */
export function assertMayGrant(parts: Parts, request: AdmissionAttributes): void {
  const { type, object, oldObject } = request;
  if (type.group !== GROUP || !object || isMaster(request.identity)) return;
  if (type.plural.endsWith('roles')) {
    const isSame =
      oldObject && deepEqual(oldObject['rules'], object['rules']) && deepEqual(oldObject['aggregationRule'], object['aggregationRule']);
    if (isSame || may(parts, request, { verb: 'escalate', resource: type.plural, name: request.name })) return;
    assertHolds(parts, request, rulesOf(object));
    if (isObject(object['aggregationRule'])) assertHolds(parts, request, EVERYTHING);
    return;
  }
  const isSame = oldObject && deepEqual(oldObject['subjects'], object['subjects']) && deepEqual(oldObject['roleRef'], object['roleRef']);
  if (!isSame) assertMayBind(parts, request, object);
}

function assertMayBind(parts: Parts, request: AdmissionAttributes, binding: AnyObject): void {
  const roleRef = binding['roleRef'] as { kind: string; name: string }; // checked by the schema
  const plural = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (may(parts, request, { verb: 'bind', resource: plural, name: roleRef.name })) return;
  const at = storeKey({ group: GROUP, plural }, plural === 'roles' ? request.namespace : undefined, roleRef.name);
  if (!parts.store.get(at)) throw notFound({ group: GROUP, plural }, roleRef.name);
  assertHolds(parts, request, parts.rules.rulesOfRole(roleRef, request.namespace));
}

function may(
  { rules }: Parts,
  { identity, namespace }: AdmissionAttributes,
  { verb, resource, name }: { verb: string; resource: string; name: string },
): boolean {
  return isAuthorized(rules, identity, { type: 'resource', verb, group: GROUP, resource, subresource: undefined, namespace, name });
}

function assertHolds({ rules }: Parts, { identity, namespace, type, name }: AdmissionAttributes, wanted: readonly PolicyRule[]): void {
  const held = [...rules.rulesFor(identity, namespace)];
  const missing = uncovered(held, wanted);
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(identity.user)} (groups=${JSON.stringify(identity.groups)})`;
  throw forbidden(type, name, `${who} is attempting to grant RBAC permissions not currently held:\n${missing.map(textOf).join('\n')}`);
}

function rulesOf(role: AnyObject): readonly PolicyRule[] {
  return Array.isArray(role['rules']) ? role['rules'] : [];
}

function textOf({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    ResourceNames: resourceNames,
    NonResourceURLs: nonResourceURLs,
    Verbs: verbs,
  });
  const shown = parts.filter(([, values]) => values !== undefined).map(([name, values]) => `${name}:${JSON.stringify(values)}`);
  return `{${shown.join(', ')}}`;
}

/**
 * Who may do what, in one place. First match wins:
 *
 *   group system:masters                                      everything
 *   a rule of a role that is bound to them (RBAC)             what the rule says
 *   otherwise                                                 Forbidden
 *
 * There is no other way in: our own components, health checks and discovery all live on roles (see bootstrap-roles-table.ts).
 */
import { ApiError } from '../../../base/errors.ts';
import { forbidden } from '../response/api-errors.ts';
import type { Identity } from '../transport/identity.ts';
import { type Attributes, allows } from './policy-rule.ts';
import type { RuleIndex } from './rule-index.ts';

/** Whoever is in this group needs no role: the way back in when roles are broken. */
const MASTERS = 'system:masters';

/** True when the identity may do anything, whatever the roles say. */
export function isMaster({ groups }: Pick<Identity, 'groups'>): boolean {
  return groups.includes(MASTERS);
}

/** True when the identity may do this. */
export function isAuthorized(rules: RuleIndex, identity: Identity, attributes: Attributes): boolean {
  if (isMaster(identity)) return true;
  for (const rule of rules.rulesFor(identity, attributes.type === 'resource' ? attributes.namespace : undefined)) {
    if (allows(rule, attributes)) return true;
  }
  return false;
}

/** Throws Forbidden with the text that every client knows. */
export function authorize(rules: RuleIndex, identity: Identity, attributes: Attributes): void {
  if (isAuthorized(rules, identity, attributes)) return;
  const who = `User ${JSON.stringify(identity.user)} cannot ${attributes.verb}`;
  if (attributes.type === 'path') throw new ApiError('Forbidden', `forbidden: ${who} path ${JSON.stringify(attributes.path)}`);
  const { group, resource, subresource, namespace, name } = attributes;
  const what = `resource "${resource}${subresource ? `/${subresource}` : ''}" in API group "${group}"`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  throw forbidden({ plural: resource, group }, name, `${who} ${what} ${where}`);
}

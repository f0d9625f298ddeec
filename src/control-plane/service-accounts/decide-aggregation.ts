/**
 * Roles that are put together from others. The rules:
 *
 *   no aggregationRule                               nothing
 *   its rules are those of the roles it selects      nothing
 *   otherwise                                        patch: the rules of all selected roles in order of their names, each rule once
 */
import type { ClusterRole } from '../../api/core/rbac.ts';
import { refOf } from '../../api/meta.ts';
import { deepEqual } from '../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';

export type ObservedRole = { readonly role: ClusterRole; readonly all: readonly ClusterRole[] };

/** Decides about the rules of one role. */
export function decideAggregation({ role, all }: ObservedRole): Decision {
  if (!role.aggregationRule) return nothingToDo;
  const rules = rulesOf(selectedBy(role, all));
  if (deepEqual(role.rules ?? [], rules)) return nothingToDo;
  const because = 'the roles that it is put together from have other rules';
  return { actions: [{ do: 'patch', target: refOf(role), patch: { rules }, resourceVersion: role.metadata.resourceVersion, because }] };
}

function selectedBy({ metadata, aggregationRule }: ClusterRole, all: readonly ClusterRole[]): ClusterRole[] {
  const selectors = aggregationRule?.clusterRoleSelectors ?? [];
  return all
    .filter((other) => other.metadata.name !== metadata.name)
    .filter((other) => selectors.some((selector) => matchesLabels(requirementsOf(selector), other.metadata.labels)))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function rulesOf(roles: readonly ClusterRole[]): object[] {
  const found: object[] = [];
  for (const rule of roles.flatMap(({ rules }) => rules ?? [])) if (!found.some((other) => deepEqual(other, rule))) found.push(rule);
  return found;
}

/**
 * Which objects a quota is about. Without scopes: all of its namespace; with some: the Pods that every one of them matches.
 *
 *   Terminating, NotTerminating   with or without activeDeadlineSeconds
 *   BestEffort, NotBestEffort     by the quality of service
 *   PriorityClass                 by the name of the class, with a scopeSelector
 */
import type { Pod } from '../../../api/core/pod.ts';
import type { ResourceQuota, ScopeRequirement } from '../../../api/core/resource-quota.ts';

/** Whether the quota counts this Pod. */
export function matchesPod({ spec }: ResourceQuota, pod: Pod): boolean {
  return requirementsOf(spec).every((requirement) => matches(requirement, pod));
}

/** Whether the quota is about Pods alone. */
export function isScoped({ spec }: ResourceQuota): boolean {
  return requirementsOf(spec).length > 0;
}

function requirementsOf(spec: ResourceQuota['spec'] = {}): readonly ScopeRequirement[] {
  const named = (spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...named, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

function matches({ scopeName, operator, values = [] }: ScopeRequirement, pod: Pod): boolean {
  const { activeDeadlineSeconds } = pod.spec as { activeDeadlineSeconds?: number }; // our own components never set it
  switch (scopeName) {
    case 'Terminating':
      return activeDeadlineSeconds !== undefined;
    case 'NotTerminating':
      return activeDeadlineSeconds === undefined;
    case 'BestEffort':
      return pod.status?.qosClass === 'BestEffort';
    case 'NotBestEffort':
      return pod.status?.qosClass !== 'BestEffort';
    case 'PriorityClass':
      return matchesClass(pod.spec.priorityClassName ?? '', operator, values);
    default:
      return false; // somebody's future scope: nothing is counted that we do not understand
  }
}

function matchesClass(name: string, operator: string, values: readonly string[]): boolean {
  if (operator === 'In') return values.includes(name);
  if (operator === 'NotIn') return !values.includes(name);
  return operator === 'DoesNotExist' ? name === '' : name !== '';
}

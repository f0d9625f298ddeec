/** Rules of roles, with the reason for each. */

export type PolicyRule = {
  readonly because?: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

/** A rule about one resource. */
export function rule(group: string, resource: string, verbs: readonly string[], because?: string): PolicyRule {
  return { ...(because !== undefined && { because }), apiGroups: [group], resources: [resource], verbs };
}

/** One rule where several say the same of different resources of a group. */
export function mergeRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  for (const each of rules) {
    const key = JSON.stringify([each.apiGroups, each.verbs, each.because]);
    const resources = [...(merged.get(key)?.resources ?? []), ...each.resources];
    merged.set(key, { ...each, resources: [...new Set(resources)] });
  }
  return [...merged.values()];
}

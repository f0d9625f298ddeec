/** One rule of a role: what it allows, and whether a set of rules allows everything that another rule does. */

export type PolicyRule = {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
};

/** What somebody wants to do, in the words of authorization. */
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

/** True when the rule alone allows it. A resource does not cover its subresources. */
export function allows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false;
  if (attributes.type === 'path') return (rule.nonResourceURLs ?? []).some((url) => matchesUrl(url, attributes.path));
  const { group, resource, subresource, name } = attributes;
  if (!has(rule.apiGroups, group) || !hasResource(rule, subresource ? `${resource}/${subresource}` : resource)) return false;
  const names = rule.resourceNames ?? [];
  return names.length === 0 || (name !== undefined && names.includes(name));
}

/** The parts of `wanted` that no rule of `held` covers, each small enough to be judged by itself. */
export function uncovered(held: readonly PolicyRule[], wanted: PolicyRule): PolicyRule[] {
  return atomsOf(wanted).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

/** One verb on one resource (of one name, if any) or one URL. A `*` stays a `*`: only a `*` covers it. */
function atomsOf({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): PolicyRule[] {
  const names = resourceNames.length > 0 ? resourceNames : [undefined];
  return verbs.flatMap((verb) => [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        names.map((name) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          ...(name !== undefined && { resourceNames: [name] }),
        })),
      ),
    ),
    ...nonResourceURLs.map((url) => ({ verbs: [verb], nonResourceURLs: [url] })),
  ]);
}

function covers(rule: PolicyRule, atom: PolicyRule): boolean {
  if (!has(rule.verbs, atom.verbs?.[0] ?? '')) return false;
  const url = atom.nonResourceURLs?.[0];
  if (url !== undefined) return (rule.nonResourceURLs ?? []).some((each) => each === url || matchesUrl(each, url));
  if (!has(rule.apiGroups, atom.apiGroups?.[0] ?? '') || !hasResource(rule, atom.resources?.[0] ?? '')) return false;
  const names = rule.resourceNames ?? [];
  const name = atom.resourceNames?.[0];
  return names.length === 0 || (name !== undefined && names.includes(name));
}

/** `resource` is `pods`, `pods/log`, or in a rule that is being judged also `*` and `*` + `/log`. */
function hasResource({ resources = [] }: PolicyRule, resource: string): boolean {
  if (resources.includes('*') || resources.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash !== -1 && resources.includes(`*${resource.slice(slash)}`);
}

function matchesUrl(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

function has(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(value));
}

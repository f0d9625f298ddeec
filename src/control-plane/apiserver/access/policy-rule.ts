/** One rule of a role: what it allows, and whether a set of rules allows everything that others do. */
import { ApiError } from '../../../base/errors.ts';

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

/** So many comparisons of one part of a rule with one held rule take a tenth of a second. */
const MAX_COMPARISONS = 2_000_000;
/** More are not told of: nobody reads them. */
const MAX_UNCOVERED = 100;

/**
 * The parts of `wanted` that no rule of `held` covers, each small enough to be judged by itself; the first hundred, if there are more.
 * RequestEntityTooLarge when the rules multiply out to more parts than can be judged in a moment.
 */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  assertComparable(sumOf(wanted, wordCount), held);
  const heldSets = held.map(setsOf);
  // A rule that one held rule covers as a whole needs no taking apart: that is nearly every rule of an administrator.
  const doubtful = wanted.filter((rule) => !heldSets.some((each) => coversAll(each, rule)));
  assertComparable(sumOf(doubtful, atomCount), held);
  const missing: PolicyRule[] = [];
  for (const rule of doubtful) {
    for (const atom of atomsOf(rule)) {
      if (heldSets.some((each) => coversAll(each, atom))) continue;
      missing.push(atom);
      if (missing.length === MAX_UNCOVERED) return missing;
    }
  }
  return missing;
}

function assertComparable(parts: number, held: readonly PolicyRule[]): void {
  if (parts * Math.max(held.length, 1) <= MAX_COMPARISONS) return;
  const why = `the rules multiply out to ${parts} permissions, too many to compare with the ${held.length} rules that you hold`;
  throw new ApiError('RequestEntityTooLarge', `Cannot judge the role: ${why}; use fewer verbs, groups, resources or names in one rule`);
}

function sumOf(rules: readonly PolicyRule[], count: (rule: PolicyRule) => number): number {
  return rules.reduce((sum, rule) => sum + count(rule), 0);
}

function wordCount({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): number {
  return verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length;
}

function atomCount({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): number {
  return verbs.length * (apiGroups.length * resources.length * Math.max(resourceNames.length, 1) + nonResourceURLs.length);
}

/** One verb on one resource (of one name, if any) or one URL, made one by one. A `*` stays a `*`: only a `*` covers it. */
function* atomsOf({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): Generator<PolicyRule> {
  const names = resourceNames.length > 0 ? resourceNames : [undefined];
  for (const verb of verbs) {
    for (const group of apiGroups)
      for (const resource of resources)
        for (const name of names)
          yield { verbs: [verb], apiGroups: [group], resources: [resource], ...(name !== undefined && { resourceNames: [name] }) };
    for (const url of nonResourceURLs) yield { verbs: [verb], nonResourceURLs: [url] };
  }
}

/** A rule as sets: it is asked about many parts. */
type RuleSets = {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly urls: readonly string[];
};

function setsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs = [] }: PolicyRule): RuleSets {
  return {
    verbs: new Set(verbs),
    groups: new Set(apiGroups),
    resources: new Set(resources),
    names: new Set(resourceNames),
    urls: nonResourceURLs,
  };
}

/** True when the one rule allows everything that the other does. */
function coversAll({ verbs, groups, resources, names, urls }: RuleSets, wanted: PolicyRule): boolean {
  if (!(wanted.verbs ?? []).every((verb) => verbs.has('*') || verbs.has(verb))) return false;
  if (!(wanted.nonResourceURLs ?? []).every((url) => urls.some((each) => each === url || matchesUrl(each, url)))) return false;
  if (!(wanted.apiGroups ?? []).every((group) => groups.has('*') || groups.has(group))) return false;
  if (!(wanted.resources ?? []).every((resource) => includesResource(resources, resource))) return false;
  const wantedNames = wanted.resourceNames ?? [];
  return names.size === 0 || (wantedNames.length > 0 && wantedNames.every((name) => names.has(name)));
}

function includesResource(resources: ReadonlySet<string>, resource: string): boolean {
  if (resources.has('*') || resources.has(resource)) return true;
  const slash = resource.indexOf('/');
  return slash !== -1 && resources.has(`*${resource.slice(slash)}`);
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

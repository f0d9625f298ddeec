/** Which webhooks and policies a write concerns, and under which version of its kind each of them wants to see it. */
import { type LabelSelector, matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import type { AdmissionAttributes } from '../server-parts.ts';
import type { WebhookRule } from './webhook.ts';

/** What a webhook, a policy or a binding says about the requests that it wants to see. */
export type Matching = {
  readonly rules?: readonly WebhookRule[] | undefined;
  /** Whatever the rules say. */
  readonly exceptRules?: readonly WebhookRule[] | undefined;
  readonly matchPolicy?: string | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
};

type Labels = Readonly<Record<string, string>> | undefined;

export type Surroundings = {
  /** The labels of the namespace that the object is in. */
  readonly namespaceLabels: Labels;
  /** Every served version of the object's kind. */
  readonly versions: readonly string[];
};

/** The version in which the request is to be seen; undefined when it does not concern them. */
export function matchedVersion(matching: Matching, request: AdmissionAttributes, around: Surroundings): string | undefined {
  if (versionBy(matching.exceptRules, matching, { request, around }) !== undefined) return undefined;
  const version = versionBy(matching.rules, matching, { request, around });
  return version !== undefined && isSelected(matching, request, around) ? version : undefined;
}

type Asked = { readonly request: AdmissionAttributes; readonly around: Surroundings };

function versionBy(all: readonly WebhookRule[] = [], { matchPolicy }: Matching, { request, around }: Asked): string | undefined {
  const rules = all.filter((rule) => concerns(rule, request));
  const isNamed = (version: string): boolean => rules.some((rule) => names(rule.apiVersions, version));
  const { version } = request.type;
  if (isNamed(version)) return version;
  return matchPolicy === 'Exact' ? undefined : around.versions.find(isNamed);
}

function isSelected(
  { namespaceSelector = {}, objectSelector = {} }: Matching,
  request: AdmissionAttributes,
  around: Surroundings,
): boolean {
  const { type, object, oldObject } = request;
  const isNamespace = type.group === '' && type.kind === 'Namespace';
  const place = isNamespace ? (object ?? oldObject)?.metadata.labels : around.namespaceLabels;
  const isPlaced = type.isNamespaced || isNamespace;
  if (isPlaced && !matchesLabels(requirementsOf(namespaceSelector), place)) return false;
  const wanted = requirementsOf(objectSelector);
  return [object, oldObject].some((each) => each && matchesLabels(wanted, each.metadata.labels));
}

/** Everything of a rule but the version. */
function concerns(rule: WebhookRule, { operation, type, subresource, name }: AdmissionAttributes): boolean {
  const { operations = [], apiGroups = [], resources = [], resourceNames = [], scope = '*' } = rule;
  const isInScope = scope === '*' || scope === (type.isNamespaced ? 'Namespaced' : 'Cluster');
  return (
    isInScope &&
    names(operations, operation) &&
    names(apiGroups, type.group) &&
    (resourceNames.length === 0 || resourceNames.includes(name)) &&
    resources.some((resource) => isResource(resource, type.plural, subresource))
  );
}

/** `pods` is the object alone; subresources are named: `pods/status`, `pods/*`, and `*` for any resource. */
function isResource(pattern: string, plural: string, subresource: string | undefined): boolean {
  const [resource, sub] = pattern.split('/');
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource);
}

function names(words: readonly string[] = [], word: string): boolean {
  return words.includes('*') || words.includes(word);
}

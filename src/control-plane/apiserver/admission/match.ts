/** Which webhooks a write concerns, and under which version of its kind each of them wants to see it. */
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import type { AdmissionAttributes } from '../server-parts.ts';
import type { Webhook, WebhookRule } from './webhook.ts';

type Labels = Readonly<Record<string, string>> | undefined;

export type Surroundings = {
  /** The labels of the namespace that the object is in. */
  readonly namespaceLabels: Labels;
  /** Every served version of the object's kind. */
  readonly versions: readonly string[];
};

/** The version in which the webhook is to be asked; undefined when the request does not concern it. */
export function matchedVersion(webhook: Webhook, request: AdmissionAttributes, around: Surroundings): string | undefined {
  const rules = (webhook.rules ?? []).filter((rule) => concerns(rule, request));
  const isNamed = (version: string): boolean => rules.some((rule) => names(rule.apiVersions, version));
  if (rules.length === 0 || !isSelected(webhook, request, around)) return undefined;
  const { version } = request.type;
  if (isNamed(version)) return version;
  return webhook.matchPolicy === 'Exact' ? undefined : around.versions.find(isNamed);
}

function isSelected({ namespaceSelector = {}, objectSelector = {} }: Webhook, request: AdmissionAttributes, around: Surroundings): boolean {
  const { type, object, oldObject } = request;
  const isNamespace = type.group === '' && type.kind === 'Namespace';
  const place = isNamespace ? (object ?? oldObject)?.metadata.labels : around.namespaceLabels;
  const isPlaced = type.isNamespaced || isNamespace;
  if (isPlaced && !matchesLabels(requirementsOf(namespaceSelector), place)) return false;
  const wanted = requirementsOf(objectSelector);
  return [object, oldObject].some((each) => each && matchesLabels(wanted, each.metadata.labels));
}

/** Everything of a rule but the version. */
function concerns(rule: WebhookRule, { operation, type, subresource }: AdmissionAttributes): boolean {
  const { operations = [], apiGroups = [], resources = [], scope = '*' } = rule;
  const isInScope = scope === '*' || scope === (type.isNamespaced ? 'Namespaced' : 'Cluster');
  return (
    isInScope &&
    names(operations, operation) &&
    names(apiGroups, type.group) &&
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

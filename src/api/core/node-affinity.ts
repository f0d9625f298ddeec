/** Does a node have what `spec.nodeSelector` and `spec.affinity.nodeAffinity` ask for? */

import { meetsRequirement } from '../../base/selectors.ts';
import type { Affinity, NodeSelectorRequirement, NodeSelectorTerm } from './affinity.ts';
import type { Node } from './node.ts';
import type { Pod } from './pod.ts';

/** Everything required of the node's labels and name holds. */
export function isNodeWanted(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const isSelected = Object.entries(pod.spec.nodeSelector ?? {}).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  );
  const required = affinityOf(pod).nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return isSelected && (required === undefined || (required.nodeSelectorTerms ?? []).some((term) => holds(term, node)));
}

/** The weights of the preferences that hold, added up. */
export function preferenceFor(pod: Pod, node: Node): number {
  const preferred = affinityOf(pod).nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.filter(({ preference }) => holds(preference, node)).reduce((total, { weight }) => total + weight, 0);
}

export function affinityOf(pod: Pod): Affinity {
  return (pod.spec.affinity ?? {}) as Affinity; // as written by the user and checked by the API server
}

/** A term that asks for nothing holds for no node, as in Kubernetes. */
function holds({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  const label = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const field = (key: string) => (key === 'metadata.name' ? node.metadata.name : undefined);
  return matchExpressions.every((each) => meets(each, label(each.key))) && matchFields.every((each) => meets(each, field(each.key)));
}

/** Whether labels of a node meet all of these. */
export function labelsMeet(requirements: readonly NodeSelectorRequirement[], labels: Readonly<Record<string, string>>): boolean {
  return requirements.every((each) => meets(each, Object.hasOwn(labels, each.key) ? labels[each.key] : undefined));
}

function meets({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  if (operator === 'Gt') return compared(value, values) > 0;
  if (operator === 'Lt') return compared(value, values) < 0;
  return meetsRequirement({ operator, values }, value);
}

/** Negative, zero or positive; not a number (so neither greater nor less) unless both sides are whole numbers. */
function compared(value: string | undefined, [bound]: readonly string[]): number {
  const isWhole = (text: string | undefined): text is string => text !== undefined && /^-?\d+$/.test(text);
  return isWhole(value) && isWhole(bound) ? Number(value) - Number(bound) : Number.NaN;
}

/**
 * Which MigrationPolicy holds for an instance: of those whose labels are all there, the one with the most of them; of those, the first by name.
 * One without labels is for nobody. Pure.
 */
import type { MigrationPolicy } from '../../api/kubevirt/kinds/migration-policy.ts';

type Labels = Readonly<Record<string, string>> | undefined;
export type LabelledMachine = { readonly vmi: Labels; readonly namespace: Labels };

export function choosePolicy(policies: readonly MigrationPolicy[], labels: LabelledMachine): MigrationPolicy | undefined {
  return policies
    .map((policy) => ({ policy, matches: matchesOf(policy, labels) }))
    .filter(({ matches }) => matches > 0)
    .sort((a, b) => b.matches - a.matches || (a.policy.metadata.name < b.policy.metadata.name ? -1 : 1))[0]?.policy;
}

/** Whether any of them looks at namespaces: they have to be asked for. */
export function lookAtNamespaces(policies: readonly MigrationPolicy[]): boolean {
  return policies.some(({ spec }) => Object.keys(spec.selectors.namespaceSelector ?? {}).length > 0);
}

/** How many labels it asks for, when all are there. */
function matchesOf({ spec: { selectors } }: MigrationPolicy, { vmi, namespace }: LabelledMachine): number {
  const asked = [...pairsOf(selectors.virtualMachineInstanceSelector, vmi), ...pairsOf(selectors.namespaceSelector, namespace)];
  return asked.every((isThere) => isThere) ? asked.length : 0;
}

function pairsOf(selector: Labels, labels: Labels): boolean[] {
  return Object.entries(selector ?? {}).map(([key, value]) => labels !== undefined && Object.hasOwn(labels, key) && labels[key] === value);
}

/** Nodes as lines of a table. Pure. */
import type { Node } from '../../api/core/node.ts';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { isReady } from '../../api/core/taints.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_SCHEDULABLE } from '../../api/kubevirt/names.ts';
import { powerOf } from '../../api/kubevirt/node-power.ts';
import { conditionOf } from '../../api/meta.ts';
import { humanDuration } from '../../base/duration.ts';

export type NodeListing = {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly vmis: readonly VirtualMachineInstance[];
  readonly now: number;
};

/** The header and a line per node. */
export function nodeRows({ nodes, pods, vmis, now }: NodeListing): string[][] {
  const podCounts = countBy(pods.filter((pod) => !isPodFinal(pod)).map(({ spec }) => spec.nodeName));
  const guestCounts = countBy(vmis.filter(({ status }) => status?.phase === 'Running').map(({ status }) => status?.nodeName));
  const rows = nodes
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((node) => {
      const { name, creationTimestamp, labels } = node.metadata;
      const count = (counts: ReadonlyMap<string | undefined, number>) => String(counts.get(name) ?? 0);
      const takesGuests = labels?.[LABEL_SCHEDULABLE] === 'true' ? 'yes' : 'no';
      const age = creationTimestamp === undefined ? '-' : humanDuration(now - Date.parse(creationTimestamp));
      return [name, statusOf(node), takesGuests, count(guestCounts), count(podCounts), age];
    });
  return [['NAME', 'STATUS', 'TAKES GUESTS', 'GUESTS', 'PODS', 'AGE'], ...rows];
}

/** As kubectl says it; behind it what is known of an embedded one that does not run. */
function statusOf(node: Node): string {
  const power = powerOf(node);
  const ready = isReady(node) ? 'Ready' : conditionOf(node.status?.conditions, 'Ready') ? 'NotReady' : 'Unknown';
  const words = [ready, ...(node.spec?.unschedulable ? ['SchedulingDisabled'] : [])].join(',');
  return power === undefined || power === 'running' ? words : `${words} (${power})`;
}

function countBy(names: readonly (string | undefined)[]): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

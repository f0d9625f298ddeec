/** What is to be said of a node. Pure. */
import type { Node } from '../api/core/node.ts';
import { isFinal, type VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_SCHEDULABLE } from '../api/kubevirt/names.ts';
import { guestMemoryBytesOf, vcpusOf } from '../api/kubevirt/vmi-size.ts';
import { conditionOf } from '../api/meta.ts';
import { escapeToOneLine } from '../base/escape-unprintable.ts';
import { parseQuantity } from '../base/quantity.ts';

/** Conditions that are not as they should be, and whether machines go there; empty where all is well. */
export function deriveFindings({ metadata, spec, status }: Node): string[] {
  const ready = conditionOf(status?.conditions, 'Ready');
  const told = ({ type, reason, message }: { readonly type: string; readonly reason?: string; readonly message?: string }) =>
    escapeToOneLine(`${type}: ${message || reason || 'nobody says why'}`);
  const others = (status?.conditions ?? []).filter(({ type, status }) => type !== 'Ready' && status === 'True');
  return [
    ...(ready?.status === 'True' ? [] : [ready ? told({ ...ready, type: 'Not ready' }) : 'It has never said that it is ready.']),
    ...others.map(told),
    ...(spec?.unschedulable ? ['Cordoned: nothing new is placed here.'] : []),
    ...(metadata.labels?.[LABEL_SCHEDULABLE] === 'true' ? [] : ['No machine is placed here: no virt-handler of it answers.']),
  ];
}

/** How much of something the machines of a node were given, and how much there is. */
export type Promised = { readonly used: number; readonly all: number };
export type Capacity = { readonly machines: number; readonly memoryBytes: Promised; readonly processors: Promised };

/** Of one node, by the instances of all. */
export function deriveCapacity({ metadata, status }: Node, vmis: readonly VirtualMachineInstance[]): Capacity {
  const here = vmis.filter((vmi) => vmi.status?.nodeName === metadata.name && !isFinal(vmi));
  const sum = (of: (vmi: VirtualMachineInstance) => number) => here.reduce((total, vmi) => total + of(vmi), 0);
  const amount = (resource: string) => parseQuantity(status?.allocatable?.[resource] ?? status?.capacity?.[resource] ?? '0') ?? 0;
  return {
    machines: here.length,
    memoryBytes: { used: sum(({ spec }) => guestMemoryBytesOf(spec) ?? 0), all: amount('memory') },
    processors: { used: sum(({ spec }) => vcpusOf(spec)), all: amount('cpu') },
  };
}

/** Which machines of a pool come first: those that the selectors name, then by the sort policy. Pure. */
import { labelsMeet } from '../../api/core/node-affinity.ts';
import type { VirtualMachinePool } from '../../api/kubevirt/kinds/pool.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import type { ObservedPool } from './observed.ts';
import { indexOf } from './vm-for.ts';

type Policy = NonNullable<NonNullable<NonNullable<VirtualMachinePool['spec']['scaleInStrategy']>['proactive']>['selectionPolicy']>;
type Order = (a: VirtualMachine, b: VirtualMachine) => number;

/** All of them, in their order. Uids are random, so by them the order is, and yet the same at every look. */
export function inOrder(
  observed: ObservedPool,
  vms: readonly VirtualMachine[],
  { sortPolicy = 'Random', selectors }: Policy = {},
): VirtualMachine[] {
  const rank = (vm: VirtualMachine) => (selectors && fits(observed, vm, selectors) ? 0 : 1);
  const age = ({ metadata }: VirtualMachine) => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
  const number = ({ metadata }: VirtualMachine) => indexOf(observed.pool, metadata.name) ?? -1;
  const orders: Readonly<Record<NonNullable<Policy['sortPolicy']>, Order>> = {
    AscendingOrder: (a, b) => number(a) - number(b),
    DescendingOrder: (a, b) => number(b) - number(a),
    Newest: (a, b) => compare(age(b), age(a)),
    Oldest: (a, b) => compare(age(a), age(b)),
    Random: (a, b) => compare(a.metadata.uid ?? '', b.metadata.uid ?? ''),
  };
  return vms.toSorted((a, b) => rank(a) - rank(b) || orders[sortPolicy](a, b) || compare(a.metadata.name, b.metadata.name));
}

function fits({ vmis, nodeLabels }: ObservedPool, vm: VirtualMachine, selectors: NonNullable<Policy['selectors']>): boolean {
  const { labelSelector, nodeSelectorRequirementMatcher = [] } = selectors;
  if (labelSelector && !matchesLabels(requirementsOf(labelSelector), vm.metadata.labels)) return false;
  if (nodeSelectorRequirementMatcher.length === 0) return true;
  const labels = nodeLabels?.get(vmis.get(vm.metadata.name)?.status?.nodeName ?? '');
  if (!labels) return false;
  return labelsMeet(nodeSelectorRequirementMatcher, labels);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

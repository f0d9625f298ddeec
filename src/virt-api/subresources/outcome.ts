/** What becomes of a request about a machine: refused with a reason, or writes to make. */
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Refusal } from '../../api/kubevirt/vm-can.ts';
import { refOf } from '../../api/meta.ts';
import type { Action } from '../../reconcile/decision.ts';

export type Write = Extract<Action, { do: 'patch' }>;
export type Outcome =
  | { readonly refused: Refusal }
  /** Made in this order; `undo` takes the first back when a later one fails, and `warning` is what whoever asked may not have thought of. */
  | { readonly writes: readonly Write[]; readonly undo?: Write; readonly warning?: string };

/** Runs or halts the machine, in the spelling that its owner chose. */
export function setRunning(vm: VirtualMachine, isRunning: boolean, because: string): Write {
  const { resourceVersion } = vm.metadata;
  const spec = vm.spec.running === undefined ? { runStrategy: isRunning ? 'Always' : 'Halted' } : { running: isRunning };
  return { do: 'patch', target: refOf(vm), patch: { spec }, resourceVersion, because };
}

type Requests = NonNullable<NonNullable<VirtualMachine['status']>['stateChangeRequests']>;

/** Asks the controller for a start, a stop, or one after the other; what was asked for before is forgotten. */
export function request(vm: VirtualMachine, stateChangeRequests: Requests, because: string): Write {
  const { resourceVersion } = vm.metadata;
  return { do: 'patch', target: refOf(vm), subresource: 'status', patch: { status: { stateChangeRequests } }, resourceVersion, because };
}

/** Gives the guest another time to shut down. */
export function setGracePeriod(vmi: VirtualMachineInstance, seconds: number | null, because: string): Write {
  return { do: 'patch', target: refOf(vmi), patch: { spec: { terminationGracePeriodSeconds: seconds } }, because };
}

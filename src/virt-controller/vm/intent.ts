/** What the user of a VM wants next, read from its run strategy and from the first of its state change requests. Pure. */
import type { VmConditions } from '../../api/kubevirt/condition-reasons.ts';
import { CHOICE_NAMES, CHOICES } from '../../api/kubevirt/instancetype/choices-table.ts';
import { expandVm } from '../../api/kubevirt/instancetype/expand-vm.ts';
import { type RunStrategy, runStrategyOf, type StateChangeRequest, type VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isDeleting } from '../../api/meta.ts';
import { causesText } from '../../base/causes.ts';
import { whyNotOurs } from '../../reconcile/decide-owner.ts';
import type { ObservedVm } from './observed.ts';

type Pair = Pick<ObservedVm, 'vm' | 'vmi'>;

/** Only the first request counts. */
export function requestOf(vm: VirtualMachine): StateChangeRequest | undefined {
  return vm.status?.stateChangeRequests?.[0];
}

export function startWasRequested(vm: VirtualMachine): boolean {
  return requestOf(vm)?.action === 'Start';
}

/** A request that names another uid was meant for an earlier instance and is already satisfied. */
export function stopWasRequested({ vm, vmi }: Pair): boolean {
  const request = requestOf(vm);
  return request?.action === 'Stop' && request.uid !== undefined && request.uid === vmi?.metadata.uid;
}

/** Without an instance, RerunOnFailure starts one when asked to, and once after a switch to it from another strategy. */
export function isRerunDue(vm: VirtualMachine): boolean {
  return startWasRequested(vm) || vm.status?.runStrategy !== 'RerunOnFailure';
}

/** The instance failed, and nobody asked for its end: RerunOnFailure makes another one. */
export function isRerunOwed({ vm, vmi }: Pair): boolean {
  return !isDeleting(vm) && runStrategyOf(vm) === 'RerunOnFailure' && vmi?.status?.phase === 'Failed' && !stopWasRequested({ vm, vmi });
}

/** Why nothing can be started, whatever is wanted; undefined when nothing stands in the way. */
export function obstacleOf({ vm, stranger }: Pick<ObservedVm, 'vm' | 'stranger'>): string | undefined {
  const { running, runStrategy } = vm.spec;
  if (running !== undefined && runStrategy !== undefined) return 'spec.running and spec.runStrategy are both set; only one of them may be';
  return stranger && whyNotOurs(vm, stranger);
}

/** Why no instance can be made of what the VM names beside its template; undefined when it can. */
export function choiceFailureOf({ vm, chosen = {} }: Pick<ObservedVm, 'vm' | 'chosen'>): ChoiceFailure | undefined {
  for (const choice of CHOICE_NAMES) {
    const found = chosen[choice];
    if (found && 'missing' in found)
      return { reason: CHOICES[choice].missingReason, message: `Failure to find ${choice}: ${found.missing}` };
  }
  const expansion = expandVm(vm, chosen);
  return 'causes' in expansion ? { reason: 'FailedCreate', message: causesText(expansion.causes) } : undefined;
}

type ChoiceFailure = { readonly reason: VmConditions['Failure']; readonly message: string };

/** True when an instance will be made as soon as there is none, so that `Stopped` would be a lie. */
export function willStart(observed: ObservedVm): boolean {
  const { vm, vmi } = observed;
  if (
    isDeleting(vm) ||
    vm.status?.restoreInProgress ||
    vm.status?.suspension?.phase === 'Suspended' ||
    obstacleOf(observed) ||
    (!vmi && choiceFailureOf(observed))
  )
    return false;
  return (vmi ? WILL_RESTART : WILL_START)[runStrategyOf(vm)]({ vm, vmi });
}

/** True when the machine is on its way up: only then a volume is waited for. */
export function isSetToStart({ vm, vmi }: Pair): boolean {
  return SET_TO_START[runStrategyOf(vm)]({ vm, vmi });
}

type Question = Readonly<Record<RunStrategy, (pair: Pair) => boolean>>;

const SET_TO_START: Question = {
  Always: () => true,
  Once: ({ vmi }) => vmi === undefined,
  RerunOnFailure: ({ vm, vmi }) => (vmi ? vmi.status?.phase !== 'Succeeded' : isRerunDue(vm)),
  Manual: (pair) => (pair.vmi ? !stopWasRequested(pair) : startWasRequested(pair.vm)),
  Halted: () => false,
};

const WILL_START: Question = {
  Always: () => true,
  Once: () => true,
  RerunOnFailure: ({ vm }) => isRerunDue(vm) || startFollows({ vm }),
  Manual: startFollows,
  Halted: () => false,
};

const WILL_RESTART: Question = {
  Always: () => true,
  Once: ({ vmi }) => vmi !== undefined && isDeleting(vmi),
  RerunOnFailure: (pair) => isRerunOwed(pair) || startFollows(pair),
  Manual: (pair) => startFollows(pair) && (stopWasRequested(pair) || (pair.vmi !== undefined && isDeleting(pair.vmi))),
  Halted: () => false,
};

/** A start is next in line, or right behind a stop. */
function startFollows({ vm }: Pair): boolean {
  const [first, second] = vm.status?.stateChangeRequests ?? [];
  return first?.action === 'Start' || (first?.action === 'Stop' && second?.action === 'Start');
}

/**
 * What should happen to one OfflineVirtualMachine, given the VirtualMachine of its name.
 *
 *   running   no VM                 VM of ours                               VM of nobody    VM of another controller
 *   true      create one            leave; running again if it was halted    adopt it        leave, and say that it is in the way
 *   false     leave                 delete it                                leave           leave
 *
 * Before that:  OVM is deleting: leave the VM to the garbage collector, which follows the kind of cascade that was asked for.
 * A VM that is going blocks the next: there is never a second machine beside a first that still ends.
 * Deleting the VM is a restart: the next one has the template of today. What the guest knows its machine by stays: the firmware UUID
 * follows from the uid of the OVM.
 *
 * The next one comes a second after the last is gone: `kubectl delete` waits for the name to be free, and would wait for the new machine.
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { runStrategyOf, type VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { adopt } from '../../reconcile/decide-owner.ts';
import type { Action, Decision } from '../../reconcile/decision.ts';
import type { ObservedOfflineVm } from './observed.ts';
import { deriveOfflineVmStatus } from './status.ts';
import { vmFor } from './vm-for.ts';

const VISIBLE_FOR_MS = 1_000;

/** The rules above, for one OVM. */
export function decideOfflineVm(observed: ObservedOfflineVm): Decision {
  const { ovm, vm, stranger, mayAdopt, createError, goneSince = Number.NEGATIVE_INFINITY, now } = observed;
  if (isDeleting(ovm)) return { actions: [] };
  if (!ovm.spec.running) return { actions: [...writeStatus(observed), ...(vm && !isDeleting(vm) ? [remove(vm)] : [])] };
  if (vm) return { actions: [...writeStatus(observed), ...keepRunning(vm)] };
  if (stranger && mayAdopt) return { actions: [adopt(ovm, stranger)] };
  if (stranger) return { actions: writeStatus(observed) };
  const waitMs = goneSince + VISIBLE_FOR_MS - now;
  if (waitMs > 0) return { actions: writeStatus(observed), lookAgainAfterMs: waitMs };
  const made = vmFor(ovm);
  if (createError !== undefined) return { actions: [...writeStatus(observed), create(made)] };
  return { actions: [create(made), ...writeStatus({ ...observed, vm: made })] };
}

/** Whoever halts the VM alone is overruled: the wish is kept in the OVM. */
function keepRunning(vm: VirtualMachine): Action[] {
  if (isDeleting(vm) || runStrategyOf(vm) !== 'Halted') return [];
  const spec = vm.spec.running === undefined ? { runStrategy: 'Always' } : { running: true };
  const { resourceVersion } = vm.metadata;
  return [{ do: 'patch', target: refOf(vm), patch: { spec }, resourceVersion, because: 'the OfflineVirtualMachine is to run' }];
}

function create(object: VirtualMachine): Action {
  const event = { type: 'Normal', reason: 'SuccessfulCreate', message: `Created virtual machine: ${object.metadata.name}` } as const;
  return { do: 'create', object, because: 'spec.running is true', event };
}

function remove(vm: VirtualMachine): Action {
  const event = { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted virtual machine: ${vm.metadata.name}` } as const;
  return { do: 'delete', target: refOf(vm), because: 'spec.running is false', event };
}

function writeStatus(observed: ObservedOfflineVm): Action[] {
  const { ovm } = observed;
  const status = deriveOfflineVmStatus(observed);
  const patch = diffAsMergePatch(ovm.status ?? {}, status);
  if (patch === undefined) return [];
  const { resourceVersion } = ovm.metadata;
  const because = `created ${status.created}, ready ${status.ready}`;
  return [{ do: 'patch', target: refOf(ovm), subresource: 'status', patch: { status: patch }, resourceVersion, because }];
}

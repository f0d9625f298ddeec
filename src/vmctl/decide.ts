/**
 * What should happen to the machine of this Pod.
 *
 *   machine of that name                       prototype    then
 *   none                                       there        create it
 *                                              gone         nothing, and say so: it is made when the prototype is there again
 *   being deleted                              any          wait: its successor has the same name
 *   of an earlier Pod with our Pod's name      any          delete it: that Pod is gone, or ours could not be there
 *   somebody else's                            any          nothing: never touch what is not ours
 *   ours                                       any          nothing: what its owner does with it, stop included, is theirs to decide
 *
 * Pure.
 */

import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_VMCTL_POD, ANNOTATION_VMCTL_PROTOTYPE, LABEL_VMCTL_POD_UID } from '../api/kubevirt/names.ts';
import { isDeleting, keyOf, refOf } from '../api/meta.ts';
import { type Decision, nothingToDo } from '../reconcile/decision.ts';
import { type Derivation, deriveVm } from './derive.ts';

/** What this program keeps: everything about the machine but the prototype itself. */
export type Task = Omit<Derivation, 'prototype'> & { readonly prototypeKey: string };
export type Observed = {
  readonly task: Task;
  readonly prototype: VirtualMachine | undefined;
  /** The machine that has the name of ours. */
  readonly vm: VirtualMachine | undefined;
};

/** The rules above. */
export function decideDerived({ task, prototype, vm }: Observed): Decision {
  if (!vm && !prototype) {
    const message = `Cannot make virtual machine ${keyOf(task)}: its prototype ${task.prototypeKey} is gone`;
    return { actions: [{ do: 'record', because: message, event: { type: 'Warning', reason: 'PrototypeMissing', message } }] };
  }
  if (!vm && prototype) {
    const object = deriveVm({ ...task, prototype });
    const message = `Created virtual machine ${keyOf(task)} from ${task.prototypeKey}`;
    const because = `no machine is derived from ${task.prototypeKey} yet`;
    return { actions: [{ do: 'create', object, because, event: { type: 'Normal', reason: 'SuccessfulCreate', message } }] };
  }
  if (!vm || isDeleting(vm) || whoseIs(vm, task) !== 'predecessor') return nothingToDo;
  return { actions: [{ do: 'delete', target: refOf(vm), because: 'it belongs to an earlier Pod of the same name' }] };
}

/** To whom a machine with the name of ours belongs. */
export function whoseIs({ metadata }: VirtualMachine, { pod, prototypeKey }: Task): 'ours' | 'predecessor' | 'foreign' {
  const uid = metadata.labels?.[LABEL_VMCTL_POD_UID];
  const { [ANNOTATION_VMCTL_PROTOTYPE]: from, [ANNOTATION_VMCTL_POD]: podKey } = metadata.annotations ?? {};
  if (uid !== pod?.metadata.uid) return pod && uid !== undefined && podKey === keyOf(pod.metadata) ? 'predecessor' : 'foreign';
  return pod || from === prototypeKey ? 'ours' : 'foreign';
}

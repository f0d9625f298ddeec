/**
 * What becomes of an instance type and a preference that a VM names, by the policy of the installation:
 *
 *   reference   a copy is kept and told in the status; the VM stays as its author wrote it
 *   expand      both are written into the template in their place, unless there is a copy of one already
 *   expandAll   also where there are copies: what they say is written out
 *
 * Pure.
 */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import { CHOICE_NAMES } from '../../api/kubevirt/instancetype/choices-table.ts';
import { type Chosen, readCopy, revisionNameOf } from '../../api/kubevirt/instancetype/chosen.ts';
import { expandVm } from '../../api/kubevirt/instancetype/expand-vm.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import type { Action } from '../../reconcile/decision.ts';
import type { ObservedVm } from './observed.ts';

type Spec = VirtualMachine['spec'];

/** Whether the VM names one of the two. */
export function hasChoices({ spec }: { readonly spec: Partial<Spec> }): boolean {
  return CHOICE_NAMES.some((choice) => spec[choice] !== undefined);
}

/** True when they have no place beside the template, so that no copies are made of them. */
export function isWrittenOut({ vm, referencePolicy = 'reference' }: ObservedVm): boolean {
  if (referencePolicy === 'reference' || !hasChoices(vm)) return false;
  return referencePolicy === 'expandAll' || CHOICE_NAMES.every((choice) => revisionNameOf(vm, choice) === undefined);
}

/** The write that does it; none while one is missing or contradicts the template, which the status tells. */
export function writeOut({ vm, chosen = {} }: ObservedVm): Action[] {
  const expansion = expandVm(vm, chosen);
  const spec = 'vm' in expansion ? diffAsMergePatch(vm.spec, expansion.vm.spec) : undefined;
  if (spec === undefined) return [];
  const because = 'the installation wants instance types and preferences written out';
  return [{ do: 'patch', target: refOf(vm), patch: { spec }, resourceVersion: vm.metadata.resourceVersion, because }];
}

/** A spec of earlier with its choices written out, by the copies that it names; undefined when one of them is not there. */
export function writtenOutBy(vm: VirtualMachine, spec: Spec, copies: readonly ControllerRevision[]): Spec | undefined {
  const found = CHOICE_NAMES.filter((choice) => spec[choice]).map((choice) => {
    const name = spec[choice]?.revisionName ?? '';
    const copy = copies.find(({ metadata }) => metadata.name === name);
    return [choice, readCopy(choice, name, copy)] as const;
  });
  const expansion = expandVm({ ...vm, spec }, Object.fromEntries(found) as Chosen); // each as it was read for its choice
  return 'vm' in expansion ? expansion.vm.spec : undefined;
}

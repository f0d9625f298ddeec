/** The record of what a VM was when its instance was started: a ControllerRevision. Pure. */
import { CONTROLLER_REVISIONS, type ControllerRevision } from '../../api/core/controller-revision.ts';
import { startedSpec } from '../../api/kubevirt/hotplug.ts';
import { CHOICE_NAMES } from '../../api/kubevirt/instancetype/choices-table.ts';
import { revisionNameOf as revisionNameOfChoice } from '../../api/kubevirt/instancetype/chosen.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_VM_GENERATION, LABEL_VM_REVISION } from '../../api/kubevirt/names.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { deepEqual, isObject } from '../../base/json.ts';
import { hasChoices, writtenOutBy } from './write-out-choices.ts';

/** The revision that a start of the VM as it is now leaves behind. */
export function revisionFor(vm: VirtualMachine): ControllerRevision {
  return {
    apiVersion: apiVersionOf(CONTROLLER_REVISIONS),
    kind: 'ControllerRevision',
    metadata: {
      name: revisionNameOf(vm, generationOf(vm)),
      namespace: vm.metadata.namespace,
      labels: { [LABEL_VM_REVISION]: '' },
      ownerReferences: [controllerReferenceTo(vm)],
    },
    revision: generationOf(vm),
    data: { spec: specAtStart(vm) },
  };
}

/** The spec, with the copies of instance type and preference that are in force. */
function specAtStart(vm: VirtualMachine): VirtualMachine['spec'] {
  const matchers = CHOICE_NAMES.flatMap((choice) => {
    const revisionName = revisionNameOfChoice(vm, choice);
    return vm.spec[choice] && revisionName ? [[choice, { ...vm.spec[choice], revisionName }]] : [];
  });
  return matchers.length === 0 ? vm.spec : { ...vm.spec, ...Object.fromEntries(matchers) };
}

/** True when a start of the VM as it is now is told by this revision: it may be halted in one and running in the other. */
export function isRevisionOf(vm: VirtualMachine, { metadata, data }: ControllerRevision): boolean {
  if (metadata.name === revisionNameOf(vm, generationOf(vm))) return true;
  return isObject(data) && isObject(data['spec']) && deepEqual(withoutRunning(data['spec']), withoutRunning(specAtStart(vm)));
}

function withoutRunning({ running: _, runStrategy: __, ...rest }: Record<string, unknown>): object {
  return rest;
}

/** The revision that this instance was started from, if it is still there. */
export function revisionOf(
  vmi: VirtualMachineInstance,
  revisions: readonly ControllerRevision[] | undefined,
): ControllerRevision | undefined {
  return revisions?.find(({ metadata }) => metadata.name === vmi.status?.virtualMachineRevisionName);
}

/** What differs from the revision and waits for a restart: paths below `spec.template.spec`, and instance type and preference by their names. */
export function fieldsAwaitingRestart(
  vm: VirtualMachine,
  revision: ControllerRevision,
  copies: readonly ControllerRevision[] = [],
): readonly string[] {
  const before = specBefore(vm, revision, copies);
  if (!before?.template?.spec) return [];
  const now = specAtStart(vm);
  const choices = CHOICE_NAMES.filter((choice) => before[choice]?.revisionName !== now[choice]?.revisionName);
  // What is hotplugged comes and goes without a restart.
  const started = ({ spec }: VirtualMachine['spec']['template']) => startedSpec(normaliseVmiSpec(spec));
  return [...changedFields(started(before.template), started(now.template)), ...choices];
}

/** True when the instance was started from another generation of the VM, but from the same template: its labels and annotations count, too. */
export function isBehindInNameOnly(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
  revision: ControllerRevision,
  copies: readonly ControllerRevision[] = [],
): boolean {
  const made = vmi.metadata.annotations?.[ANNOTATION_VM_GENERATION];
  if (made === undefined || made === String(generationOf(vm))) return false;
  const isSameMetadata = deepEqual(specBefore(vm, revision, copies)?.template?.metadata ?? {}, vm.spec.template.metadata ?? {});
  return isSameMetadata && fieldsAwaitingRestart(vm, revision, copies).length === 0;
}

/** As it was at the start; its choices written out where the VM has them in its template now, so that like is compared with like. */
function specBefore(
  vm: VirtualMachine,
  revision: ControllerRevision,
  copies: readonly ControllerRevision[],
): Partial<VirtualMachine['spec']> | undefined {
  const before = specIn(revision);
  if (!before?.template?.spec || hasChoices(vm) || !hasChoices({ spec: before })) return before;
  return writtenOutBy(vm, before as VirtualMachine['spec'], copies) ?? before; // a template is all that is asked of it
}

function specIn({ data }: ControllerRevision): Partial<VirtualMachine['spec']> | undefined {
  return isObject(data) ? (data['spec'] as VirtualMachine['spec'] | undefined) : undefined; // as revisionFor wrote it
}

export function generationOf({ metadata }: VirtualMachine): number {
  return metadata.generation ?? 1;
}

function revisionNameOf({ metadata }: VirtualMachine, generation: number): string {
  return `revision-start-vm-${metadata.uid}-${generation}`;
}

/** Lists are named as a whole: a position in them says little to a reader. */
function changedFields(from: unknown, to: unknown, path = ''): readonly string[] {
  if (deepEqual(from, to)) return [];
  if (!isObject(from) || !isObject(to)) return [path];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return keys.flatMap((key) => changedFields(from[key], to[key], path === '' ? key : `${path}.${key}`));
}

/** The record of what a VM was when its instance was started: a ControllerRevision. Pure. */
import { CONTROLLER_REVISIONS, type ControllerRevision } from '../../api/core/controller-revision.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_VM_GENERATION, LABEL_VM_REVISION } from '../../api/kubevirt/names.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { deepEqual, isObject } from '../../base/json.ts';

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
    data: { spec: vm.spec },
  };
}

/** True when a start of the VM as it is now is told by this revision: it may be halted in one and running in the other. */
export function isRevisionOf(vm: VirtualMachine, { metadata, data }: ControllerRevision): boolean {
  if (metadata.name === revisionNameOf(vm, generationOf(vm))) return true;
  return isObject(data) && isObject(data['spec']) && deepEqual(withoutRunning(data['spec']), withoutRunning(vm.spec));
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

/** The fields of the template that differ from the revision, as paths below `spec.template.spec`; they wait for a restart. */
export function fieldsAwaitingRestart(vm: VirtualMachine, revision: ControllerRevision): readonly string[] {
  const spec = isObject(revision.data) ? (revision.data['spec'] as VirtualMachine['spec'] | undefined) : undefined; // as revisionFor wrote it
  if (!spec?.template?.spec) return [];
  return changedFields(normaliseVmiSpec(spec.template.spec), normaliseVmiSpec(vm.spec.template.spec));
}

/** True when the instance was started from another generation of the VM, but from the same template. */
export function isBehindInNameOnly(vm: VirtualMachine, vmi: VirtualMachineInstance, revision: ControllerRevision): boolean {
  const made = vmi.metadata.annotations?.[ANNOTATION_VM_GENERATION];
  return made !== undefined && made !== String(generationOf(vm)) && fieldsAwaitingRestart(vm, revision).length === 0;
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

/** The instance that a VM's template describes. */

import { ANNOTATION_VM_GENERATION, FINALIZER_VM_CONTROLLER, FINALIZER_VMI } from '../../api/kubevirt/names.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import type { VirtualMachine } from '../../api/kubevirt/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/virtual-machine-instance.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { uuid5 } from '../../base/uuid5.ts';

/** The namespace of firmware UUIDs that follow from a VM's uid. Never change it: guests know their machine by the result. */
const FIRMWARE_UUIDS = '5b6f0a8e-1d0c-4f0e-9d57-3a8f6c2b7e41';

/** A new instance of the VM: same name, today's spelling, and the same firmware UUID at every start. */
export function vmiFor(vm: VirtualMachine, options: { readonly isPaused: boolean }): VirtualMachineInstance {
  const { name, namespace, generation = 1 } = vm.metadata;
  const { metadata, spec } = vm.spec.template;
  const { domain, ...rest } = normaliseVmiSpec(spec);
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name,
      namespace,
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [ANNOTATION_VM_GENERATION]: String(generation) },
      ownerReferences: [controllerReferenceTo(vm)],
      finalizers: [FINALIZER_VM_CONTROLLER, FINALIZER_VMI],
    },
    spec: {
      ...rest,
      ...(options.isPaused && { startStrategy: 'Paused' as const }),
      domain: { ...domain, firmware: { ...domain.firmware, uuid: domain.firmware?.uuid || firmwareUuidOf(vm) } },
    },
  };
}

/** ADR 0004: from the uid, so that two VMs of one name in two namespaces are two machines. */
function firmwareUuidOf(vm: VirtualMachine): string {
  return uuid5(FIRMWARE_UUIDS, vm.metadata.uid ?? `${vm.metadata.namespace}/${vm.metadata.name}`);
}

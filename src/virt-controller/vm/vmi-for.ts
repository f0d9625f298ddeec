/** The instance that a VM's template describes. */

import { ANNOTATION_VM_GENERATION, FINALIZER_VM_CONTROLLER, FINALIZER_VMI } from '../../api/kubevirt/names.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import type { VirtualMachine } from '../../api/kubevirt/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/virtual-machine-instance.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { timestamp } from '../../base/clock.ts';
import { uuid5 } from '../../base/uuid5.ts';
import { firstStatus } from '../vmi/status.ts';
import { generationOf, revisionFor } from './revision.ts';

/** The namespace of firmware UUIDs that follow from a VM's uid. Never change it: guests know their machine by the result. */
const FIRMWARE_UUIDS = '5b6f0a8e-1d0c-4f0e-9d57-3a8f6c2b7e41';

export type VmiOptions = { readonly isPaused: boolean; readonly now: number };

/** A new instance of the VM: same name, today's spelling, the same firmware UUID at every start, and its first status. */
export function vmiFor(vm: VirtualMachine, { isPaused, now }: VmiOptions): VirtualMachineInstance {
  const { name, namespace } = vm.metadata;
  const { metadata, spec } = vm.spec.template;
  const { domain, ...rest } = normaliseVmiSpec(spec);
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name,
      namespace,
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [ANNOTATION_VM_GENERATION]: String(generationOf(vm)) },
      ownerReferences: [controllerReferenceTo(vm)],
      finalizers: [FINALIZER_VM_CONTROLLER, FINALIZER_VMI],
    },
    spec: {
      ...rest,
      ...(isPaused && { startStrategy: 'Paused' as const }),
      domain: { ...domain, firmware: { ...domain.firmware, uuid: domain.firmware?.uuid || firmwareUuidOf(vm) } },
    },
    status: { ...firstStatus(timestamp(now)), virtualMachineRevisionName: revisionFor(vm).metadata.name },
  };
}

/** ADR 0004: from the uid of what keeps the machine, so that two VMs of one name in two namespaces are two machines. */
export function firmwareUuidOf({ metadata }: Pick<VirtualMachine, 'metadata'>): string {
  return uuid5(FIRMWARE_UUIDS, metadata.uid ?? `${metadata.namespace}/${metadata.name}`);
}

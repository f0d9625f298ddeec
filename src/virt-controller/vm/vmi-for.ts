/** The instance that a VM's template describes. */

import { instanceFrom } from '../../api/kubevirt/instance-from.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_VM_GENERATION, FINALIZER_VM_CONTROLLER } from '../../api/kubevirt/names.ts';
import type { Domain } from '../../api/kubevirt/vmi-spec-schema.ts';
import { isDumpVolume } from '../../api/kubevirt/volumes/dump-volume.ts';
import { timestamp } from '../../base/timestamp.ts';
import { uuid5 } from '../../base/uuid5.ts';
import { firstStatus } from '../vmi/status.ts';
import { generationOf } from './revision.ts';

/** The namespace of firmware UUIDs that follow from a VM's uid. Never change it: guests know their machine by the result. */
const FIRMWARE_UUIDS = '5b6f0a8e-1d0c-4f0e-9d57-3a8f6c2b7e41';

export type VmiOptions = {
  readonly isPaused: boolean;
  readonly revisionName: string;
  /** That tell what it was made with. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly now: number;
};

/** A new instance of the VM: same name, today's spelling, the same firmware UUID and serial number at every start, and its first status. */
export function vmiFor(vm: VirtualMachine, { isPaused, revisionName, annotations, now }: VmiOptions): VirtualMachineInstance {
  const made = instanceFrom({ owner: vm, template: vm.spec.template, named: { name: vm.metadata.name } });
  const { domain, volumes, ...rest } = made.spec;
  return {
    ...made,
    metadata: {
      ...made.metadata,
      annotations: { ...made.metadata.annotations, ...annotations, [ANNOTATION_VM_GENERATION]: String(generationOf(vm)) },
      finalizers: [FINALIZER_VM_CONTROLLER, ...(made.metadata.finalizers ?? [])],
    },
    spec: {
      ...rest,
      // A dump of the memory is asked for while a guest runs.
      ...(volumes && { volumes: volumes.filter((each) => !isDumpVolume(each)) }),
      ...(isPaused && { startStrategy: 'Paused' as const }),
      domain: { ...domain, firmware: firmwareOf(vm, domain.firmware) },
    },
    status: { ...firstStatus(timestamp(now)), virtualMachineRevisionName: revisionName },
  };
}

/** ADR 0004 and 0018: UUID and serial number from the uid of what keeps the machine, so that two VMs of one name are two machines. */
export function firmwareOf({ metadata }: Pick<VirtualMachine, 'metadata'>, given: Domain['firmware']): Domain['firmware'] {
  const keeper = metadata.uid ?? `${metadata.namespace}/${metadata.name}`;
  return {
    ...given,
    uuid: given?.uuid || uuid5(FIRMWARE_UUIDS, keeper),
    serial: given?.serial || uuid5(FIRMWARE_UUIDS, `serial of ${keeper}`),
  };
}

/**
 * How a machine gets back memory that a snapshot has kept: as one that is suspended, with a PVC of its own that begins as what was kept. So it goes
 * on as any suspended machine does, and what was kept is used as often as somebody wants it.
 *
 *   the machine that was kept        is what it was, its cards and its firmware included
 *   another machine                  the same devices with addresses, UUID and serial number of its own; its guest is told when it goes on
 *
 * Pure.
 */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { runStrategyOf, type VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { controllerReferenceTo, type KubeObject, refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Action } from '../../reconcile/decision.ts';
import { type Backup, MEMORY_BACKUP } from '../snapshot/memory.ts';
import { recordNameOf, recordOf } from '../vm/suspension.ts';
import { firmwareOf, vmiFor } from '../vm/vmi-for.ts';
import type { ObservedVmRestore } from './observed.ts';
import { claimFor, claimNameFor, MEMORY, volumesWith } from './restored.ts';

type Memory = NonNullable<VirtualMachineSnapshotContent['spec']['memory']>;

/** The claim of one backup. That of the memory belongs to the machine, whatever the restore says of disks. */
export function claimOf({ restore, vm }: ObservedVmRestore, backup: Backup): PersistentVolumeClaim {
  const claim = claimFor(restore, backup, vm);
  if (backup.volumeName !== MEMORY_BACKUP) return claim;
  const { ownerReferences: _, ...metadata } = claim.metadata;
  return { ...claim, metadata: { ...metadata, ...(vm && { ownerReferences: [controllerReferenceTo(vm)] }) } };
}

export function isMemoryClaim({ restore }: ObservedVmRestore, { metadata }: KubeObject): boolean {
  return metadata.name === claimNameFor(restore, MEMORY);
}

/** Why this memory cannot go on in the machine that it is to go on in. */
export function whyNoMemory({ restore, content, vm }: ObservedVmRestore): string | undefined {
  const memory = content?.spec.memory;
  if (!memory || isSameMachine(content, vm)) return undefined;
  const snapshot = `VirtualMachineSnapshot ${restore.spec.virtualMachineSnapshotName}`;
  const source = content.spec.source.virtualMachine?.metadata.name;
  if (!memory.guestAgent)
    return `${snapshot} has the memory of a guest without an agent: nobody can tell it that it is another machine than ${source}; take one without memory`;
  const card = memory.instance.spec.domain.devices.interfaces?.find(({ model = 'virtio' }) => model !== 'virtio');
  return card && `${snapshot} has the memory of a guest whose card ${card.name} is no virtio: its address cannot be changed while it runs`;
}

/** The memory that its status already has. */
export function hasMemory({ restore, vm }: ObservedVmRestore): boolean {
  return vm?.status?.suspension?.claimName === claimNameFor(restore, MEMORY);
}

/** First the record of the instance, of which there is one, then the status that names the memory. */
export function giveMemory(observed: ObservedVmRestore, vm: VirtualMachine, content: VirtualMachineSnapshotContent): Action[] {
  const { restore, records = [], now } = observed;
  const { memory } = content.spec;
  if (!memory) return [];
  const because = 'its memory is what it was';
  const seed = restore.metadata.uid ?? '';
  const strategy = runStrategyOf(vm);
  const suspension = {
    phase: strategy === 'Halted' || strategy === 'Manual' ? 'Suspended' : 'Resuming',
    claimName: claimNameFor(restore, MEMORY),
    ...{ digest: memory.digest, bytes: memory.bytes, guestAgent: memory.guestAgent },
    ...(!isSameMachine(content, vm) && { origin: originOf(content, memory) }),
    savedTimestamp: timestamp(now),
  };
  const others = records.filter(({ metadata }) => metadata.name !== recordNameOf(vm, seed));
  const resourceVersion = vm.metadata.resourceVersion;
  return [
    ...others.map((each): Action => ({ do: 'delete', target: refOf(each), because })),
    ...(others.length < records.length ? [] : [{ do: 'create', object: recordFor(observed, vm, memory), because } as const]),
    { do: 'patch', target: refOf(vm), patch: { status: { suspension } }, subresource: 'status', resourceVersion, because },
  ];
}

function originOf({ spec }: VirtualMachineSnapshotContent, { instance }: Memory) {
  const { uuid } = instance.spec.domain.firmware ?? {};
  return { name: spec.source.virtualMachine?.metadata.name ?? '', ...(uuid !== undefined && { firmwareUUID: uuid }) };
}

function isSameMachine({ spec }: VirtualMachineSnapshotContent, vm: VirtualMachine | undefined): boolean {
  return vm?.metadata.uid !== undefined && vm.metadata.uid === spec.source.virtualMachine?.metadata.uid;
}

function recordFor(observed: ObservedVmRestore, vm: VirtualMachine, memory: Memory): ControllerRevision {
  const { restore, content, now } = observed;
  const { instance } = memory;
  const volumes = volumesWith(restore, content, instance.spec.volumes);
  const spec = { ...instance.spec, ...(volumes && { volumes }) };
  const isSame = content !== undefined && isSameMachine(content, vm);
  const made = isSame ? { ...instance, spec } : asAnother({ ...instance, spec }, vm, now);
  return recordOf(vm, restore.metadata.uid ?? '', made);
}

/** Devices as they were; what tells one machine from another is that of the new one. */
function asAnother({ spec }: Memory['instance'], vm: VirtualMachine, now: number): VirtualMachineInstance {
  const { apiVersion, kind, metadata } = vmiFor(vm, { isPaused: false, revisionName: '', now });
  const { firmware, devices } = vm.spec.template.spec.domain;
  const given = new Map(devices.interfaces?.map(({ name, macAddress }) => [name, macAddress]));
  const interfaces = spec.domain.devices.interfaces?.map(({ macAddress: _, ...card }) => {
    const macAddress = given.get(card.name);
    return { ...card, ...(macAddress !== undefined && { macAddress }) };
  });
  const { uuid, serial } = firmwareOf(vm, firmware) ?? {};
  const domain = {
    ...spec.domain,
    firmware: { ...spec.domain.firmware, ...(uuid !== undefined && { uuid }), ...(serial !== undefined && { serial }) },
    devices: { ...spec.domain.devices, ...(interfaces && { interfaces }) },
  };
  return { apiVersion, kind, metadata, spec: { ...spec, domain } };
}

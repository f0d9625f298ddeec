/**
 * The hotplugged volumes of the template reach the instance that runs: what is new comes, what is gone goes. One of the same name on another claim goes
 * first, and comes when it is out of the guest. Pure.
 */

import { hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import { driveIndexOf, ephemeralVolumesOf, type HotplugDisk, hotplugDisksOf, withHotplug } from '../../api/kubevirt/hotplug.ts';
import { expandVm } from '../../api/kubevirt/instancetype/expand-vm.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import type { Action } from '../../reconcile/decision.ts';
import type { ObservedVm } from './observed.ts';

/** The write that brings the instance in step, if one is needed. */
export function syncHotplug({ vm, vmi, chosen = {} }: ObservedVm): Action[] {
  if (!vmi || isFinal(vmi) || isDeleting(vmi) || hindranceOf('hotplug', vmi)) return [];
  const expansion = expandVm(vm, chosen);
  if (!('vm' in expansion)) return [];
  const template = normaliseVmiSpec(expansion.vm.spec.template.spec);
  // What the guest was started with under this name stays until the next start.
  const started = new Set((vmi.spec.volumes ?? []).map(({ name }) => name));
  const now = hotplugDisksOf(vmi.spec);
  const here = new Set(now.map(({ volume }) => volume.name));
  const ephemeral = ephemeralVolumesOf(vmi) ?? [];
  const ofTemplate = hotplugDisksOf(template)
    .filter(({ volume }) => here.has(volume.name) || !started.has(volume.name))
    .filter(({ disk }) => !disk.cdrom || driveIndexOf(vmi.spec, disk.name) !== undefined); // a new drive comes with the next start
  const wanted = [
    ...now.filter(({ volume }) => ephemeral.includes(volume.name)),
    ...ofTemplate.filter(({ volume }) => !ephemeral.includes(volume.name)),
  ];
  if (sameDisks(now, wanted)) return [];
  const next = wanted.filter((each) => mayStay(each, vmi, now));
  if (sameDisks(now, next)) return [];
  const { volumes, domain } = withHotplug(vmi.spec, next);
  const patch = { spec: { volumes, domain: { devices: { disks: domain.devices.disks } } } };
  const because = 'the hotplugged volumes of its template have changed';
  return [{ do: 'patch', target: refOf(vmi), patch, resourceVersion: vmi.metadata.resourceVersion, because }];
}

/** Not while another claim is in the guest under its name, or on its way out. */
function mayStay({ volume, disk }: HotplugDisk, { status }: VirtualMachineInstance, now: readonly HotplugDisk[]): boolean {
  const before = now.find((each) => each.volume.name === volume.name);
  if (before) return keyOfDisk(before) === keyOfDisk({ volume, disk });
  return !status?.volumeStatus?.some(({ name, hotplugVolume }) => name === volume.name && hotplugVolume);
}

function sameDisks(a: readonly HotplugDisk[], b: readonly HotplugDisk[]): boolean {
  const keys = new Set(a.map(keyOfDisk));
  return a.length === b.length && b.every((each) => keys.has(keyOfDisk(each)));
}

function keyOfDisk({ volume, disk }: HotplugDisk): string {
  const { claimName = '', isReadOnly = false } = claimOf(volume) ?? {};
  return `${volume.name}/${claimName}/${disk.disk?.bus ?? ''}/${isReadOnly}`;
}

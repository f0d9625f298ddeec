/** Hotplugged volumes: a disk that can be plugged in, and a port for it. */
import { DEFAULT_HOTPLUG_BUS, HOTPLUG_BUSES, hotplugDisksOf } from '../../../api/kubevirt/hotplug.ts';
import { normaliseVmiSpec } from '../../../api/kubevirt/normalise-vmi-spec.ts';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { forbiddenCause, invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { portCountOf } from '../../../qemu/convert/hotplug-ports.ts';
import { busOf } from '../../../qemu/convert/root-bus.ts';

export function validateHotplug(given: VmiSpec, path: string): StatusCause[] {
  const spec = normaliseVmiSpec(given);
  const plugged = hotplugDisksOf(spec);
  if (plugged.length === 0) return [];
  if (spec.domain.devices.disableHotplug)
    return [forbiddenCause(`${path}.volumes`, 'the machine has disableHotplug: it takes no volume while it runs')];
  const disks = (spec.domain.devices.disks ?? []).map(({ name }) => name);
  return plugged.flatMap(({ disk }) => {
    const at = `${path}.domain.devices.disks[${disks.indexOf(disk.name)}]`;
    if (disk.cdrom) return []; // its drive is there from the start
    const bus = busOf(disk);
    if (!HOTPLUG_BUSES.some((each) => each === bus))
      return [invalidCause(`${at}.disk.bus`, bus, `a hotplugged disk is on bus ${HOTPLUG_BUSES.join(' or ')}`)];
    return disk.bootOrder === undefined
      ? []
      : [invalidCause(`${at}.bootOrder`, disk.bootOrder, 'a machine does not boot from what is hotplugged')];
  });
}

/** Disks on SCSI share one port, those on virtio need one each. Asks where all devices are: the spec has to be right in everything else. */
export function validateHotplugPorts(given: VmiSpec, path: string): StatusCause[] {
  const spec = normaliseVmiSpec(given);
  const buses = hotplugDisksOf(spec).flatMap(({ disk }) => (disk.cdrom ? [] : busOf(disk)));
  const onPorts = buses.filter((bus) => bus === 'virtio').length;
  const needed = onPorts + (onPorts < buses.length ? 1 : 0);
  if (needed === 0) return [];
  const ports = portCountOf(spec);
  if (needed <= ports) return [];
  const why = `the machine has ${ports} ports for hotplugged devices, these volumes need ${needed}; disks on bus ${DEFAULT_HOTPLUG_BUS} share one`;
  return [invalidCause(`${path}.volumes`, buses.length, why)];
}

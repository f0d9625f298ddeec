/** Where the next device can be plugged in. Pure. */
import type { Disk } from '../../api/kubevirt/vmi-spec-schema.ts';
import { MOST_DISKS_ON } from '../../qemu/convert/limits.ts';
import { HOTPLUG_CONTROLLER, needsPort } from '../../qemu/convert/plugged-disk.ts';
import type { Plugged } from './plugged.ts';

/** Why the next device has no place; undefined when it has one. */
export function whyNoPlace(disk: Disk, plugged: Plugged): string | undefined {
  if (needsPort(disk) || !(HOTPLUG_CONTROLLER in plugged.devices))
    return freePort(plugged) === undefined ? `all ${plugged.ports.length} ports for devices that are plugged in are taken` : undefined;
  return freeTarget(plugged) === undefined ? `the SCSI controller has ${MOST_DISKS_ON.scsi} disks already` : undefined;
}

/** A root port with nothing in it. */
export function freePort({ ports, devices }: Plugged): string | undefined {
  const taken = new Set(Object.values(devices).map(({ bus }) => bus));
  return ports.find((port) => !taken.has(port));
}

/** A number that no disk of the controller has. */
export function freeTarget({ devices }: Plugged): number | undefined {
  const taken = new Set(Object.values(devices).flatMap(({ bus, target }) => (bus === `${HOTPLUG_CONTROLLER}.0` ? (target ?? []) : [])));
  return Array.from({ length: MOST_DISKS_ON.scsi }, (_, target) => target).find((target) => !taken.has(target));
}

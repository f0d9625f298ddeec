/** A disk that is plugged in while the guest runs: its block node, its device, and for the first one on SCSI the controller. Pure. */
import type { Disk } from '../../api/kubevirt/vmi-spec-schema.ts';
import { ATTACH_EXPORT, pluggedNames } from '../../api/launcher/attachment.ts';
import { diskProperties, isReadOnlyDisk } from './disks.ts';
import type { Backend, Device, PciPlace } from './machine-model.ts';
import { busOf } from './root-bus.ts';

/** The one virtio-scsi controller of plugged disks, in a port of its own. */
export const HOTPLUG_CONTROLLER = 'scsi-hotplug';
const CONTROLLER_BUS = `${HOTPLUG_CONTROLLER}.0`;
/** How many seconds a guest waits for a disk whose Pod has to come back, before it sees errors. */
const RECONNECT_SECONDS = 120;

/** The disk at the socket of its Pod. */
export function pluggedNode(disk: Disk, { isReadOnly }: { isReadOnly: boolean }): Extract<Backend, { part: 'blockdev' }> {
  const { node, socket } = pluggedNames(disk.name);
  return {
    part: 'blockdev',
    node: {
      driver: 'nbd',
      'node-name': node,
      server: { type: 'unix', path: socket },
      export: ATTACH_EXPORT,
      'read-only': isReadOnly || isReadOnlyDisk(disk),
      discard: 'unmap',
      'reconnect-delay': RECONNECT_SECONDS,
    },
  };
}

/** The controller, in a free port. */
export function hotplugController(port: string): Device {
  return { part: 'device', id: HOTPLUG_CONTROLLER, driver: 'virtio-scsi-pci', place: inPort(port), properties: {} };
}

/** The disk in a port of its own. */
export function pluggedCard(disk: Disk, port: string): Device {
  return {
    part: 'device',
    id: pluggedNames(disk.name).device,
    driver: 'virtio-blk-pci',
    place: inPort(port),
    properties: properties(disk),
  };
}

/** The disk at the controller. */
export function pluggedScsiDisk(disk: Disk, target: number): Device {
  const place = { kind: 'scsi', bus: CONTROLLER_BUS, channel: 0, target, lun: 0 } as const;
  return { part: 'device', id: pluggedNames(disk.name).device, driver: 'scsi-hd', place, properties: properties(disk) };
}

/** True for a disk that needs a port of its own. */
export function needsPort(disk: Disk): boolean {
  return busOf(disk) === 'virtio';
}

function properties(disk: Disk): Device['properties'] {
  return { drive: pluggedNames(disk.name).node, ...diskProperties(disk, `disk ${disk.name}`) };
}

function inPort(port: string): PciPlace {
  return { kind: 'pci', bus: port, slot: 0, function: 0 };
}

/**
 * The devices on the root bus of a machine, in the order of their slots: which ones there are, and where, is said here and nowhere else.
 * Guests name their disks and cards after these addresses, so the order is a promise: a new kind of device goes to the end of the list.
 */
import type { Disk, Domain, Interface, VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import {
  DEFAULT_DISK_BUS,
  type DiskBus,
  MOST_ROOT_BUS_DEVICES,
  PCI_ADDRESS_RULE,
  pciSlotOf,
  ROOT_BUS_SLOTS,
  SATA_PORTS,
} from './limits.ts';
import type { Device, PciPlace } from './machine-model.ts';
import { specError } from './option-text.ts';

type Devices = Domain['devices'];
export type RootBus = ReadonlyMap<string, PciPlace>;

export const ROOT_BUS = 'pcie.0';

/** The ids of the devices, first slot first; there may be more of them than slots. */
export function rootBusDevices(spec: VmiSpec): readonly string[] {
  const { devices } = spec.domain;
  return [
    ...(devices.autoattachGraphicsDevice === false ? [] : ['video0']),
    'channels',
    ...diskDevices(devices.disks ?? []),
    ...interfacesOf(spec).map((_, index) => `nic${index}`),
    'virtio-rng0',
    ...(devices.autoattachMemBalloon === false ? [] : ['balloon0']),
    'panic0',
    ...tabletsOf(devices).map((bus, index) => (bus === 'virtio' ? `input${index}` : `input-usb${index}`)),
    ...(devices.watchdog ? ['watchdog0'] : []),
    ...(devices.sound ? ['sound0'] : []),
    ...(devices.filesystems ?? []).map((_, index) => `fs${index}`),
  ];
}

/** Where each device of the root bus is; a UserError when there are more than slots. */
export function rootBusOf(spec: VmiSpec): RootBus {
  const ids = rootBusDevices(spec);
  if (ids.length > MOST_ROOT_BUS_DEVICES) {
    const why = `they need ${ids.length} PCI slots, there are ${MOST_ROOT_BUS_DEVICES}`;
    throw specError('TOO_MANY_DEVICES', 'spec.domain.devices', why, 'use bus scsi for the disks, 256 of them share one slot');
  }
  const asked = askedSlots(spec, new Set(ids));
  const taken = new Set(asked.values());
  let next: number = ROOT_BUS_SLOTS.first;
  return new Map(
    ids.map((id): [string, PciPlace] => {
      while (taken.has(next)) next += 1;
      const slot = asked.get(id) ?? next++;
      return [id, { kind: 'pci', bus: ROOT_BUS, slot, function: 0 }];
    }),
  );
}

/** The slots that a spec names itself; the other devices have the rest, in their order. */
function askedSlots(spec: VmiSpec, ids: ReadonlySet<string>): Map<string, number> {
  const asked = [
    ...(spec.domain.devices.disks ?? []).map(({ disk }, index) => [`disk${index}`, 'disks', index, disk?.pciAddress] as const),
    ...interfacesOf(spec).map(({ pciAddress }, index) => [`nic${index}`, 'interfaces', index, pciAddress] as const),
  ];
  const slots = new Map<string, number>();
  for (const [id, list, index, address] of asked) {
    if (!address || !ids.has(id)) continue;
    const field = `spec.domain.devices.${list}[${index}]${list === 'disks' ? '.disk' : ''}.pciAddress`;
    const slot = pciSlotOf(address);
    if (slot === undefined) throw specError('ADDRESS_INVALID', field, PCI_ADDRESS_RULE);
    if ([...slots.values()].includes(slot)) throw specError('ADDRESS_INVALID', field, 'another device has it');
    slots.set(id, slot);
  }
  return slots;
}

/** The device of this id at its place, or nothing when the machine does not have it. */
export function card(rootBus: RootBus, id: string, driver: string, properties: Device['properties'] = {}): Device[] {
  const place = rootBus.get(id);
  return place ? [{ part: 'device', id, driver, place, properties }] : [];
}

/** How a disk or drive is attached. */
export function busOf({ disk, cdrom, lun }: Pick<Disk, 'disk' | 'cdrom' | 'lun'>): DiskBus {
  if (lun) return 'scsi';
  return (cdrom ?? disk)?.bus ?? DEFAULT_DISK_BUS;
}

/** The network cards of an instance: those listed, or one on the Pod's network unless that is switched off. */
export function interfacesOf({ domain, networks }: VmiSpec): readonly Interface[] {
  const { interfaces, autoattachPodInterface } = domain.devices;
  if (interfaces?.length) return interfaces;
  if (networks?.length || autoattachPodInterface === false) return [];
  return [{ name: 'default', masquerade: {} }];
}

/** How each tablet is attached; on USB with a controller each: one for all would have to be shared with the disks. */
export function tabletsOf({ inputs = [], autoattachInputDevice }: Devices): readonly ('usb' | 'virtio')[] {
  if (inputs.length === 0) return autoattachInputDevice ? ['usb'] : [];
  return inputs.map(({ bus = 'usb' }) => bus);
}

/** Disks on virtio, and the controllers of the others: the first six on SATA have the board's. */
function diskDevices(disks: readonly Disk[]): string[] {
  const onBus = new Map<DiskBus, number>();
  return disks.flatMap((disk, index): string[] => {
    const bus = busOf(disk);
    const before = onBus.get(bus) ?? 0;
    onBus.set(bus, before + 1);
    if (bus === 'virtio') return [`disk${index}`];
    if (bus === 'sata') return before > 0 && before % SATA_PORTS === 0 ? [`ahci${before / SATA_PORTS}`] : [];
    return before === 0 ? [`${bus}0`] : [];
  });
}

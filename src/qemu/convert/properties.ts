/** Parts of a machine in QEMU's own words: the same object stands in an argument and in a command over QMP. */
import type { Backend, Device, Place } from './machine-model.ts';

/** What `-device` and `device_add` take. */
export function deviceProperties({ driver, id, place, properties }: Device): Readonly<Record<string, unknown>> {
  return { driver, id, ...placeProperties(place), ...properties };
}

/** What `-netdev` and `netdev_add`, `-object` and `object-add` take. */
export function namedProperties(backend: Backend & { readonly part: 'netdev' | 'object' }): Readonly<Record<string, unknown>> {
  const { id, type, properties } = backend;
  return { [backend.part === 'object' ? 'qom-type' : 'type']: type, id, ...properties };
}

function placeProperties(place: Place): Readonly<Record<string, unknown>> {
  const { bus } = place;
  switch (place.kind) {
    case 'pci':
      // Hexadecimal, as everywhere with PCI.
      return { bus, addr: `0x${place.slot.toString(16)}.${place.function}` };
    case 'scsi':
      return { bus, channel: place.channel, 'scsi-id': place.target, lun: place.lun };
    case 'usb':
      return { bus, port: place.port };
    case 'channel':
      return { bus, nr: place.number };
    case 'bus':
      return { bus };
  }
}

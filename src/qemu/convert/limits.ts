/**
 * What a machine can have at most, and how some of its values are spelled. One table: admission refuses by it before anything is stored,
 * and the conversion to QEMU's arguments by the same once more, because an instance can come by other ways.
 */

/** Slots of the root bus for our devices: the host bridge is at 0, the rest of the board at 31. */
export const ROOT_BUS_SLOTS = { first: 1, last: 30 } as const;
export const MOST_ROOT_BUS_DEVICES = ROOT_BUS_SLOTS.last - ROOT_BUS_SLOTS.first + 1;

/** Where a device can be put: on the root bus, which is bus 0, as function 0. */
export const PCI_ADDRESS_RULE = 'devices are on the root bus, from 0000:00:01.0 to 0000:00:1e.0';
const PCI_ADDRESS = /^0000:00:([01][0-9a-f])\.0$/i;

/** How many disks and drives a bus takes. Those on virtio need a slot of the root bus each, six on SATA a controller, all on SCSI or USB one. */
export const MOST_DISKS_ON = { virtio: 256, scsi: 256, sata: 60, usb: 15 } as const;
export type DiskBus = keyof typeof MOST_DISKS_ON;
export const SATA_PORTS = 6;
export const DEFAULT_DISK_BUS: DiskBus = 'sata';

/** QEMU's x86 boards end at 4Ti; it refuses less than it needs for the firmware, and 1Mi keeps the arithmetic honest. */
export const GUEST_MEMORY_BYTES = { least: 2 ** 20, most: 2 ** 42 } as const;

export const MACHINE_TYPE = /^(pc-)?q35(-[a-z0-9.]+)*$/;
export const CPU_MODEL = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
export const CPU_FEATURE = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
export const HYPERV_VENDOR_ID = /^[ -~]{1,12}$/;
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What a guest mounts a folder by; virtio has room for 36 bytes. */
export const FILESYSTEM_TAG = /^[a-z0-9](?:[-a-z0-9]{0,34}[a-z0-9])?$/;
export const DISK_SERIAL = /^[A-Za-z0-9_.+-]{1,256}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
const UNPRINTABLE = /[\u0000-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const MAC = /^[0-9a-f]{2}([:-])[0-9a-f]{2}(\1[0-9a-f]{2}){4}$/i;
const CIDR = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/;

/** Text that QEMU takes as a value: no control characters, no halves of a character. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** A size of blocks that a disk can have. */
export function isBlockSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 2_097_152 && Number.isInteger(Math.log2(bytes));
}

/** The slot of the root bus that an address means; undefined for one where nothing can be put. */
export function pciSlotOf(address: string): number | undefined {
  const slot = Number.parseInt(PCI_ADDRESS.exec(address)?.[1] ?? '', 16);
  return slot >= ROOT_BUS_SLOTS.first && slot <= ROOT_BUS_SLOTS.last ? slot : undefined;
}

/** A hardware address of one card, with colons or dashes. */
export function isUnicastMac(text: string): boolean {
  return MAC.test(text) && (Number.parseInt(text.slice(0, 2), 16) & 1) === 0;
}

/** An IPv4 network that has room for a guest: between /8 and /28. Undefined for anything else. */
export function parseGuestNetwork(text: string): { readonly base: number; readonly prefix: number } | undefined {
  const [a = 256, b = 256, c = 256, d = 256, prefix = 33] = CIDR.exec(text)?.slice(1).map(Number) ?? [];
  if (![a, b, c, d].every((byte) => byte <= 255) || prefix < 8 || prefix > 28) return undefined;
  const size = 2 ** (32 - prefix);
  const address = ((a * 256 + b) * 256 + c) * 256 + d;
  return { base: address - (address % size), prefix };
}

/** A name such as Europe/Berlin that this Node knows. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false; // a RangeError: there is no such zone
  }
}

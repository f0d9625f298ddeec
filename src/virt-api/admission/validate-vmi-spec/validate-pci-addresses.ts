/** Places on the root bus that a spec names itself: each exists, and is given once, to a device that sits there. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { duplicateCause, invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { PCI_ADDRESS_RULE, pciSlotOf } from '../../../qemu/convert/limits.ts';
import { busOf } from '../../../qemu/convert/root-bus.ts';

export function validatePciAddresses({ domain }: VmiSpec, path: string): StatusCause[] {
  const at = `${path}.domain.devices`;
  const { disks = [], interfaces = [] } = domain.devices;
  const asked = [
    ...disks.map((disk, index) => ({ field: `${at}.disks[${index}].disk.pciAddress`, address: disk.disk?.pciAddress, bus: busOf(disk) })),
    ...interfaces.map(({ pciAddress }, index) => ({ field: `${at}.interfaces[${index}].pciAddress`, address: pciAddress, bus: 'virtio' })),
  ];
  const seen = new Set<number>();
  return asked.flatMap(({ field, address, bus }) => {
    if (!address) return [];
    if (bus !== 'virtio') return [invalidCause(field, address.slice(0, 64), `only a disk on virtio has one, this is on ${bus}`)];
    const slot = pciSlotOf(address);
    if (slot === undefined) return [invalidCause(field, address.slice(0, 64), PCI_ADDRESS_RULE)];
    if (seen.has(slot)) return [duplicateCause(field, address)];
    seen.add(slot);
    return [];
  });
}

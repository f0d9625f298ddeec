/** Words by which a guest finds its own disks and cards: what a config drive says of each device that has a tag. Pure. */
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { diskParts } from './disks.ts';
import type { ConvertInput } from './input.ts';
import { macOf } from './mac.ts';
import type { Place } from './machine-model.ts';
import { interfacesOf, type RootBus, rootBusOf } from './root-bus.ts';

/** As in the metadata of OpenStack. */
export type TaggedDevice = {
  readonly type: 'nic' | 'disk';
  readonly bus: string;
  readonly address?: string;
  readonly mac?: string;
  readonly serial?: string;
  readonly tags: readonly string[];
};

/** Every device with a tag, disks first. */
export function taggedDevices({ metadata, spec: given }: ConvertInput['vmi']): TaggedDevice[] {
  const spec = normaliseVmiSpec(given);
  const rootBus = rootBusOf(spec);
  return [...taggedDisks(spec, rootBus), ...taggedCards({ metadata, spec }, rootBus)];
}

function taggedDisks(spec: VmiSpec, rootBus: RootBus): TaggedDevice[] {
  const disks = spec.domain.devices.disks ?? [];
  if (!disks.some(({ tag }) => tag)) return [];
  // Where a disk is does not depend on its image.
  const images = new Map(disks.map(({ name }) => [name, { path: '', format: 'raw' } as const]));
  const parts = diskParts(spec, images, rootBus);
  return disks.flatMap(({ tag, serial }, index): TaggedDevice[] => {
    const device = parts.find((part) => part.part === 'device' && part.id === `disk${index}`);
    if (!tag || device?.part !== 'device') return [];
    return [{ type: 'disk', ...whereabouts(device.place), ...(serial && { serial }), tags: [tag] }];
  });
}

function taggedCards(vmi: ConvertInput['vmi'], rootBus: RootBus): TaggedDevice[] {
  return interfacesOf(vmi.spec).flatMap((card, index): TaggedDevice[] => {
    const place = rootBus.get(`nic${index}`);
    return card.tag && place ? [{ type: 'nic', ...whereabouts(place), mac: macOf(vmi, card), tags: [card.tag] }] : [];
  });
}

/** Guests see other addresses on SATA and USB than we give, so there is none. */
function whereabouts(place: Place): Pick<TaggedDevice, 'bus' | 'address'> {
  switch (place.kind) {
    case 'pci':
      return { bus: 'pci', address: `0000:00:${place.slot.toString(16).padStart(2, '0')}.${place.function}` };
    case 'scsi':
      return { bus: 'scsi', address: `0:${place.channel}:${place.target}:${place.lun}` };
    case 'usb':
      return { bus: 'usb' };
    case 'channel':
    case 'bus':
      return { bus: 'sata' };
  }
}

/**
 * Disks: for each disk of the spec a tree of block nodes and the device that shows it.
 *
 *   bus      disk                           cdrom                     where
 *   virtio   virtio-blk-pci                 (refused, as upstream)    its own PCI slot
 *   scsi     scsi-hd, scsi-block for a LUN  scsi-cd                   one virtio-scsi controller, 256 targets
 *   sata     ide-hd                         ide-cd                    the board's AHCI, then one more for every six
 *   usb      usb-storage                    usb-bot + scsi-cd         one xHCI controller, 15 ports
 */
import type { Disk, VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { blockNode } from './block-node.ts';
import { bootIndexes } from './boot-order.ts';
import { type DiskImage, imageNode } from './input.ts';
import { ioThreadsOf } from './io-threads.ts';
import { DISK_SERIAL, type DiskBus, isBlockSize, MOST_DISKS_ON, SATA_PORTS } from './limits.ts';
import type { Device, Part } from './machine-model.ts';
import { matching, specError } from './option-text.ts';
import { busOf, card, interfacesOf, type RootBus } from './root-bus.ts';
import { usbDevice } from './usb.ts';

type Properties = Device['properties'];
/** One disk on its way to a device; `port` counts the disks before it on the same bus. */
type Slot = {
  readonly disk: Disk;
  readonly index: number;
  readonly port: number;
  readonly field: string;
  readonly properties: Properties;
  readonly rootBus: RootBus;
};

/** All disks, in the order of the list, which is the order in which guests name them. */
export function diskParts(spec: VmiSpec, images: ReadonlyMap<string, DiskImage>, rootBus: RootBus): Part[] {
  const disks = spec.domain.devices.disks ?? [];
  const boot = bootIndexes(disks, interfacesOf(spec));
  const threads = ioThreadsOf(spec.domain);
  const onBus = new Map<DiskBus, number>();
  return disks.flatMap((disk, index): Part[] => {
    const field = `spec.domain.devices.disks[${index}]`;
    const image = images.get(disk.name);
    if (!image && !disk.cdrom)
      throw specError('DISK_WITHOUT_VOLUME', field, `there is no volume of the name ${JSON.stringify(disk.name.slice(0, 64))}`);
    if (disk.lun && !image?.isDevice)
      throw specError(
        'DISK_INVALID',
        `${field}.lun`,
        'its volume is no block device of the node',
        'use a PVC with volumeMode Block on SCSI storage, or disk',
      );
    // Two devices on one file would ruin it; QEMU's lock would refuse the second, less clearly.
    if (disks.findIndex(({ name }) => name === disk.name) !== index)
      throw specError('DISK_INVALID', field, 'another disk shows the same volume');
    const bus = busOf(disk);
    const port = onBus.get(bus) ?? 0;
    onBus.set(bus, port + 1);
    if (port >= MOST_DISKS_ON[bus]) throw specError('TOO_MANY_DISKS', field, `bus ${bus} takes at most ${MOST_DISKS_ON[bus]} disks`);
    const node = imageNode(index);
    const thread = threads[index];
    const properties = {
      ...(image && { drive: node }),
      ...(disk.lun ? {} : serial(disk, field)),
      ...bootIndex(boot[index]),
      ...behaviour(disk, { image: image ?? {}, field }),
      ...(thread && { iothread: thread }),
    };
    // A CD-ROM drive without a volume is empty; what is put into it while the guest runs has block nodes of its own.
    const tree = image && blockNode({ node, image, isReadOnly: isReadOnly(disk, image), disk });
    const devices = DEVICES_ON[bus]({ disk, index, port, field, properties, rootBus });
    return [...(tree ? [{ part: 'blockdev', node: tree } as const] : []), ...devices];
  });
}

/** What a disk is told besides where it is: the same for one that is plugged in while the guest runs. */
export function diskProperties(disk: Disk, field: string): Properties {
  return { ...serial(disk, field), ...behaviour(disk, { image: {}, field }) };
}

function behaviour(disk: Disk, at: { image: Pick<DiskImage, 'matched'>; field: string }): Properties {
  // What a LUN says of itself is the device's own.
  if (disk.lun) return { ...onErrors(disk), ...(disk.shareable && { 'share-rw': true }) };
  return { ...writeCache(disk), ...onErrors(disk), ...blockSizes(disk, at), ...(disk.shareable && { 'share-rw': true }) };
}

/** The guest cannot write to this disk, so its image needs no overlay. */
export function isReadOnlyDisk(disk: Disk): boolean {
  return disk.cdrom !== undefined || (disk.lun ?? disk.disk)?.readonly === true;
}

/** An image nobody may write is read-only, except that SATA has no read-only disks: there a private copy is opened for writing. */
function isReadOnly(disk: Disk, image: DiskImage): boolean {
  return isReadOnlyDisk(disk) || (image.isReadOnly === true && busOf(disk) !== 'sata');
}

/** The device, and before the first one of a bus its controller. */
const DEVICES_ON: Readonly<Record<DiskBus, (slot: Slot) => readonly Device[]>> = {
  virtio({ disk, index, field, properties, rootBus }) {
    if (disk.cdrom) throw specError('DISK_INVALID', `${field}.cdrom.bus`, 'there is no CD-ROM drive on virtio', 'use sata or scsi');
    return card(rootBus, `disk${index}`, 'virtio-blk-pci', properties);
  },
  scsi({ disk, index, port, properties, rootBus }) {
    const controller = port === 0 ? card(rootBus, 'scsi0', 'virtio-scsi-pci') : [];
    const place = { kind: 'scsi', bus: 'scsi0.0', channel: 0, target: port, lun: 0 } as const;
    return [
      ...controller,
      { part: 'device', id: `disk${index}`, driver: disk.lun ? 'scsi-block' : disk.cdrom ? 'scsi-cd' : 'scsi-hd', place, properties },
    ];
  },
  sata({ disk, index, port, field, properties, rootBus }) {
    if (!disk.cdrom && disk.disk?.readonly)
      throw specError('DISK_INVALID', `${field}.disk.readonly`, 'a SATA disk cannot be read-only', 'use virtio, scsi or a cdrom');
    const controller = Math.floor(port / SATA_PORTS);
    const bus = controller === 0 ? `ide.${port}` : `ahci${controller}.${port % SATA_PORTS}`;
    const place = { kind: 'bus', bus } as const;
    const device = { part: 'device', id: `disk${index}`, driver: disk.cdrom ? 'ide-cd' : 'ide-hd', place, properties } as const;
    return [...(port % SATA_PORTS === 0 ? card(rootBus, `ahci${controller}`, 'ich9-ahci') : []), device];
  },
  usb({ disk, index, port, properties, rootBus }) {
    const ports = MOST_DISKS_ON.usb;
    const controller = port === 0 ? card(rootBus, 'usb0', 'qemu-xhci', { p2: ports, p3: ports }) : [];
    const at = { controller: 'usb0', ports, port: port + 1 };
    const id = `disk${index}`;
    if (!disk.cdrom) return [...controller, ...usbDevice(at, { id, driver: 'usb-storage', properties })];
    const bridge = `usb-bot${index}`;
    const drive = { part: 'device', id, driver: 'scsi-cd', place: { kind: 'bus', bus: `${bridge}.0` }, properties } as const;
    return [...controller, ...usbDevice(at, { id: bridge, driver: 'usb-bot', properties: {} }), drive];
  },
};

function serial({ serial }: Disk, field: string): Properties {
  if (!serial) return {};
  const why = 'a serial number consists of letters, digits and _ . + -, at most 256 of them';
  return { serial: matching(serial, { field: `${field}.serial`, pattern: DISK_SERIAL, why }) };
}

function bootIndex(index: number | undefined): Properties {
  return index === undefined ? {} : { bootindex: index };
}

/** enospc is what QEMU calls enospace; it has no meaning for reads. */
function onErrors({ errorPolicy }: Disk): Properties {
  if (!errorPolicy) return {};
  return errorPolicy === 'enospace' ? { werror: 'enospc', rerror: 'report' } : { werror: errorPolicy, rerror: errorPolicy };
}

/** A CD-ROM has blocks of its own kind. */
function blockSizes({ cdrom, blockSize }: Disk, { image, field }: { image: Pick<DiskImage, 'matched'>; field: string }): Properties {
  const { matched } = image;
  if (cdrom) return {};
  if (matched) return { logical_block_size: matched.logicalBytes, physical_block_size: matched.physicalBytes };
  const { custom } = blockSize ?? {};
  if (!custom) return {};
  const { logical, physical, discardGranularity } = custom;
  if (!isBlockSize(logical) || !isBlockSize(physical) || logical > physical)
    throw specError('DISK_INVALID', `${field}.blockSize.custom`, 'sizes are powers of two from 512 to 2097152, the logical one not above the other'); // biome-ignore format: one sentence
  if (discardGranularity !== undefined && discardGranularity % logical !== 0)
    throw specError('DISK_INVALID', `${field}.blockSize.custom.discardGranularity`, 'it is a multiple of the logical size');
  return {
    logical_block_size: logical,
    physical_block_size: physical,
    ...(discardGranularity !== undefined && { discard_granularity: discardGranularity }),
  };
}

/** Writethrough is a disk that admits to have no cache, so that every write is on the host when it is acknowledged. */
function writeCache({ cache }: Disk): Properties {
  return cache === 'writethrough' ? { 'write-cache': 'off' } : {};
}

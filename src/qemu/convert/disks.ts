/**
 * Disks: for each disk of the spec a tree of block nodes (`-blockdev`) and the device that shows it (`-device`).
 *
 *   bus      disk                           cdrom                     where
 *   virtio   virtio-blk-pci                 (refused, as upstream)    its own PCI slot
 *   scsi     scsi-hd                        scsi-cd                   one virtio-scsi controller, 256 targets
 *   sata     ide-hd                         ide-cd                    the board's AHCI, then one more for every six
 *   usb      usb-storage                    usb-bot + scsi-cd         one xHCI controller, 15 ports
 */
import type { Disk, VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { blockNode } from './block-node.ts';
import { bootIndexes } from './boot-order.ts';
import type { DiskImage } from './input.ts';
import { ioThreadsOf } from './io-threads.ts';
import { jsonOption, matching, specError } from './option-text.ts';

type Bus = 'virtio' | 'scsi' | 'sata' | 'usb';
type Device = Readonly<Record<string, unknown>>;
/** One disk on its way to a device; `port` counts the disks before it on the same bus. */
type Slot = { readonly disk: Disk; readonly index: number; readonly port: number; readonly field: string; readonly common: Device };

const SATA_PORTS = 6;
const MOST: Readonly<Record<Bus, number>> = { virtio: 256, scsi: 256, sata: 60, usb: 15 };

/** The arguments for all disks, in the order of the list, which is the order in which guests name them. */
export function diskArguments(spec: VmiSpec, images: ReadonlyMap<string, DiskImage>): string[] {
  const disks = spec.domain.devices.disks ?? [];
  const boot = bootIndexes(disks);
  const threads = ioThreadsOf(spec.domain);
  const onBus = new Map<Bus, number>();
  return disks.flatMap((disk, index) => {
    const field = `spec.domain.devices.disks[${index}]`;
    const image = images.get(disk.name);
    if (!image) throw specError('DISK_WITHOUT_VOLUME', field, `there is no volume of the name ${JSON.stringify(disk.name.slice(0, 64))}`);
    // Two devices on one file would ruin it; QEMU's lock would refuse the second, less clearly.
    if (disks.findIndex(({ name }) => name === disk.name) !== index)
      throw specError('DISK_INVALID', field, 'another disk shows the same volume');
    const bus = busOf(disk);
    const port = onBus.get(bus) ?? 0;
    onBus.set(bus, port + 1);
    if (port >= MOST[bus]) throw specError('TOO_MANY_DISKS', field, `bus ${bus} takes at most ${MOST[bus]} disks`);
    const node = `image${index}`;
    const thread = threads[index];
    const common = {
      id: `disk${index}`,
      drive: node,
      ...serial(disk, field),
      ...bootIndex(boot[index]),
      ...writeCache(disk),
      ...onErrors(disk),
      ...blockSizes(disk, field),
      ...(thread && { iothread: thread }),
    };
    const devices = DEVICES_ON[bus]({ disk, index, port, field, common });
    const tree = blockNode({ node, image, isReadOnly: isReadOnly(disk, image), disk });
    return [...jsonOption('-blockdev', tree), ...devices.flatMap((device) => jsonOption('-device', device))];
  });
}

/** The guest cannot write to this disk, so its image needs no overlay. */
export function isReadOnlyDisk(disk: Disk): boolean {
  return disk.cdrom !== undefined || disk.disk?.readonly === true;
}

function busOf({ disk, cdrom }: Disk): Bus {
  return (cdrom ?? disk)?.bus ?? 'sata';
}

/** An image nobody may write is read-only, except that SATA has no read-only disks: there a private copy is opened for writing. */
function isReadOnly(disk: Disk, image: DiskImage): boolean {
  return isReadOnlyDisk(disk) || (image.isReadOnly === true && busOf(disk) !== 'sata');
}

const DEVICES_ON: Readonly<Record<Bus, (slot: Slot) => readonly Device[]>> = {
  virtio({ disk, field, common }) {
    if (disk.cdrom) throw specError('DISK_INVALID', `${field}.cdrom.bus`, 'there is no CD-ROM drive on virtio', 'use sata or scsi');
    return [{ driver: 'virtio-blk-pci', ...common }];
  },
  scsi({ disk, port, common }) {
    const controller = { driver: 'virtio-scsi-pci', id: 'scsi0' };
    const address = { bus: 'scsi0.0', channel: 0, 'scsi-id': port, lun: 0 };
    return [...(port === 0 ? [controller] : []), { driver: disk.cdrom ? 'scsi-cd' : 'scsi-hd', ...address, ...common }];
  },
  sata({ disk, port, field, common }) {
    if (!disk.cdrom && disk.disk?.readonly)
      throw specError('DISK_INVALID', `${field}.disk.readonly`, 'a SATA disk cannot be read-only', 'use virtio, scsi or a cdrom');
    const controller = Math.floor(port / SATA_PORTS);
    const bus = controller === 0 ? `ide.${port}` : `ahci${controller}.${port % SATA_PORTS}`;
    const isNew = controller > 0 && port % SATA_PORTS === 0;
    const device = { driver: disk.cdrom ? 'ide-cd' : 'ide-hd', bus, ...common };
    return [...(isNew ? [{ driver: 'ich9-ahci', id: `ahci${controller}` }] : []), device];
  },
  usb({ disk, index, port, common }) {
    const controller = { driver: 'qemu-xhci', id: 'usb0', p2: MOST.usb, p3: MOST.usb };
    const drive = disk.cdrom
      ? [
          { driver: 'usb-bot', id: `usb-bot${index}`, bus: 'usb0.0' },
          { driver: 'scsi-cd', bus: `usb-bot${index}.0`, ...common },
        ]
      : [{ driver: 'usb-storage', bus: 'usb0.0', ...common }];
    return [...(port === 0 ? [controller] : []), ...drive];
  },
};

function serial({ serial }: Disk, field: string): Device {
  if (!serial) return {};
  const why = 'a serial number consists of letters, digits and _ . + -, at most 256 of them';
  return { serial: matching(serial, { field: `${field}.serial`, pattern: /^[A-Za-z0-9_.+-]{1,256}$/, why }) };
}

function bootIndex(index: number | undefined): Device {
  return index === undefined ? {} : { bootindex: index };
}

/** enospc is what QEMU calls enospace; it has no meaning for reads. */
function onErrors({ errorPolicy }: Disk): Device {
  if (!errorPolicy) return {};
  return errorPolicy === 'enospace' ? { werror: 'enospc', rerror: 'report' } : { werror: errorPolicy, rerror: errorPolicy };
}

/** A CD-ROM has blocks of its own kind. */
function blockSizes({ cdrom, blockSize }: Disk, field: string): Device {
  const { custom } = blockSize ?? {};
  if (cdrom || !custom) return {};
  const { logical, physical, discardGranularity } = custom;
  const isSize = (size: number) => size >= 512 && size <= 2_097_152 && Number.isInteger(Math.log2(size));
  if (!isSize(logical) || !isSize(physical) || logical > physical)
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
function writeCache({ cache }: Disk): Device {
  return cache === 'writethrough' ? { 'write-cache': 'off' } : {};
}

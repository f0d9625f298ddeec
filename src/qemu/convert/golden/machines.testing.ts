/** Instances that stand for all the machines which users have: every kind of device, alone and together, and a full board. */
import type { Disk, VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import type { ConvertInput, DiskImage } from '../input.ts';
import { type Devices, input } from '../vmi.testing.ts';

type Bus = NonNullable<NonNullable<Disk['disk']>['bus']>;

const disk = (name: string, bus: Bus): Disk => ({ name, disk: { bus } });
const cdrom = (name: string, bus: Bus): Disk => ({ name, cdrom: { bus } });
const disks = (count: number, bus: Bus): Disk[] => Array.from({ length: count }, (_, index) => disk(`${bus}${index}`, bus));
const card = (model: 'e1000' | 'e1000e' | 'rtl8139' | 'virtio') => ({ name: 'default', masquerade: {}, model });
const tablet = (bus: 'usb' | 'virtio') => ({ name: bus, type: 'tablet' as const, bus });

/** By a name that says what is special about it. A release keeps the devices of each where they are; new machines are added at the end. */
export const GOLDEN_MACHINES: Readonly<Record<string, ConvertInput>> = {
  'nothing but memory': machine({}),
  'a root disk and cloud-init': machine({ disks: [disk('root', 'virtio'), disk('cloudinit', 'virtio')] }),
  'volumes without disks': machine({}, { volumes: [{ name: 'one', emptyDisk: { capacity: '1Mi' } }] }),
  'every bus': machine({
    disks: [
      ...[disk('a', 'virtio'), disk('b', 'scsi'), cdrom('c', 'scsi'), disk('d', 'sata'), cdrom('e', 'sata')],
      ...[disk('f', 'usb'), cdrom('g', 'usb'), disk('h', 'virtio')],
    ],
  }),
  'thirteen SATA disks': machine({ disks: disks(13, 'sata') }),
  'a full USB controller': machine({ disks: disks(15, 'usb') }),
  'nine SCSI disks': machine({ disks: disks(9, 'scsi') }),
  'every extra device': machine({
    disks: [disk('root', 'virtio')],
    interfaces: [card('e1000')],
    ...{ watchdog: { name: 'w' }, sound: { name: 's' }, video: { type: 'virtio' }, panicDevices: [{ model: 'isa' }] },
    inputs: [tablet('usb'), tablet('virtio'), tablet('usb')],
  }),
  'other cards': machine({ interfaces: [card('rtl8139')], sound: { name: 's', model: 'ac97' }, video: { type: 'cirrus' } }),
  'a tablet that is only asked for': machine({ autoattachInputDevice: true, interfaces: [card('e1000e')], video: { type: 'bochs' } }),
  'as little as possible': machine({
    ...{ autoattachGraphicsDevice: false, autoattachMemBalloon: false, autoattachPodInterface: false, autoattachSerialConsole: false },
  }),
  'a full board': machine({ disks: disks(24, 'virtio') }),
  'four gigabytes': machine({ disks: [disk('root', 'virtio')] }, {}, { memory: { guest: '4Gi' } }),
  'places of its own choice': machine({
    disks: [disk('root', 'virtio'), { name: 'data', disk: { bus: 'virtio', pciAddress: '0000:00:02.0' } }],
    interfaces: [{ ...card('virtio'), pciAddress: '0000:00:1e.0', bootOrder: 1, acpiIndex: 3 }],
  }),
  'for guests older than virtio 1.0': machine({
    ...{ disks: [disk('root', 'virtio'), disk('data', 'scsi')], inputs: [tablet('virtio')], useVirtioTransitional: true },
    disableHotplug: true,
  }),
};

/** Each disk is a raw file of its own. */
function machine(devices: Devices, spec: Partial<VmiSpec> = {}, domain: Partial<VmiSpec['domain']> = {}): ConvertInput {
  const names = [...(devices.disks ?? []), ...(spec.volumes ?? [])].map(({ name }) => name);
  const images = new Map(names.map((name): [string, DiskImage] => [name, { path: `${name}.img`, format: 'raw' }]));
  return { ...input(devices, spec, domain), files: { images } };
}

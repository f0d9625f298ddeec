import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk } from '../../api/kubevirt/vmi-spec-schema.ts';
import { diskParts } from './disks.ts';
import type { DiskImage } from './input.ts';
import { machineFor } from './machine-for.ts';
import type { Part } from './machine-model.ts';
import { deviceProperties } from './properties.ts';
import { rootBusOf } from './root-bus.ts';
import { imagesFor, input } from './vmi.testing.ts';

type Device = Readonly<Record<string, unknown>>;

function partsFor(disks: Disk[], images: ReadonlyMap<string, DiskImage> = imagesFor({ disks })): Part[] {
  const { spec } = input({ disks }).vmi;
  return diskParts(spec, images, rootBusOf(spec));
}

function devicesFor(...disks: Disk[]): Device[] {
  return partsFor(disks).flatMap((part) => (part.part === 'device' ? [deviceProperties(part)] : []));
}

function nodeFor(disk: Disk, image: DiskImage): Device {
  return partsFor([disk], new Map([[disk.name, image]])).flatMap((part) => (part.part === 'blockdev' ? [part.node] : []))[0] ?? {};
}

/** Where the first device beside the screen and the agent's channel is. */
const FIRST = { bus: 'pcie.0', addr: '0x3.0' } as const;

const CASES: [name: string, disk: Omit<Disk, 'name'>, expected: Device[]][] = [
  ['virtio', { disk: { bus: 'virtio' } }, [{ driver: 'virtio-blk-pci', ...FIRST, id: 'disk0', drive: 'image0', bootindex: 1 }]],
  ['no bus at all', {}, [{ driver: 'ide-hd', bus: 'ide.0', id: 'disk0', drive: 'image0', bootindex: 1 }]],
  ['sata', { disk: { bus: 'sata' } }, [{ driver: 'ide-hd', bus: 'ide.0', id: 'disk0', drive: 'image0', bootindex: 1 }]],
  ['sata cdrom', { cdrom: { bus: 'sata' } }, [{ driver: 'ide-cd', bus: 'ide.0', id: 'disk0', drive: 'image0', bootindex: 1 }]],
  [
    'scsi',
    { disk: { bus: 'scsi' } },
    [
      { driver: 'virtio-scsi-pci', ...FIRST, id: 'scsi0' },
      { driver: 'scsi-hd', bus: 'scsi0.0', channel: 0, 'scsi-id': 0, lun: 0, id: 'disk0', drive: 'image0', bootindex: 1 },
    ],
  ],
  [
    'usb cdrom',
    { cdrom: { bus: 'usb' } },
    [
      { driver: 'qemu-xhci', ...FIRST, id: 'usb0', p2: 15, p3: 15 },
      { driver: 'usb-bot', id: 'usb-bot0', bus: 'usb0.0', port: '1' },
      { driver: 'scsi-cd', bus: 'usb-bot0.0', id: 'disk0', drive: 'image0', bootindex: 1 },
    ],
  ],
  [
    'serial and writethrough',
    { disk: { bus: 'virtio' }, serial: 'CVLY623300HK240D', cache: 'writethrough' },
    [{ driver: 'virtio-blk-pci', ...FIRST, id: 'disk0', drive: 'image0', serial: 'CVLY623300HK240D', bootindex: 1, 'write-cache': 'off' }],
  ],
  [
    'a policy for errors',
    { disk: { bus: 'virtio' }, errorPolicy: 'stop' },
    [{ driver: 'virtio-blk-pci', ...FIRST, id: 'disk0', drive: 'image0', bootindex: 1, werror: 'stop', rerror: 'stop' }],
  ],
  [
    'a policy for a full disk',
    { disk: { bus: 'virtio' }, errorPolicy: 'enospace' },
    [{ driver: 'virtio-blk-pci', ...FIRST, id: 'disk0', drive: 'image0', bootindex: 1, werror: 'enospc', rerror: 'report' }],
  ],
  [
    'block sizes',
    { disk: { bus: 'virtio' }, blockSize: { custom: { logical: 512, physical: 4096, discardGranularity: 4096 } } },
    [
      {
        ...{ driver: 'virtio-blk-pci', ...FIRST, id: 'disk0', drive: 'image0', bootindex: 1 },
        ...{ logical_block_size: 512, physical_block_size: 4096, discard_granularity: 4096 },
      },
    ],
  ],
  [
    'other writers',
    { disk: { bus: 'virtio' }, shareable: true },
    [{ driver: 'virtio-blk-pci', ...FIRST, id: 'disk0', drive: 'image0', bootindex: 1, 'share-rw': true }],
  ],
  [
    'a thread of its own',
    { disk: { bus: 'virtio' }, dedicatedIOThread: true },
    [{ driver: 'virtio-blk-pci', ...FIRST, id: 'disk0', drive: 'image0', bootindex: 1, iothread: 'iothread-disk0' }],
  ],
];
for (const [name, disk, expected] of CASES) {
  test(`devices of a disk with ${name}`, () => assert.deepEqual(devicesFor({ name: 'root', ...disk }), expected));
}

test('the seventh SATA disk gets another controller', () => {
  const disks = Array.from({ length: 7 }, (_, i) => ({ name: `d${i}` }));
  assert.deepEqual(devicesFor(...disks).slice(5), [
    { driver: 'ide-hd', bus: 'ide.5', id: 'disk5', drive: 'image5', bootindex: 6 },
    { driver: 'ich9-ahci', ...FIRST, id: 'ahci1' },
    { driver: 'ide-hd', bus: 'ahci1.0', id: 'disk6', drive: 'image6', bootindex: 7 },
  ]);
});

test('with one boot order, only the disks that have one are booted from', () => {
  const disk = { bus: 'virtio' as const };
  const indexes = devicesFor({ name: 'a', disk }, { name: 'b', disk, bootOrder: 1 }).map(({ bootindex }) => bootindex);
  assert.deepEqual(indexes, [undefined, 1]);
});

const REFUSED: [name: string, disks: Disk[], code: string][] = [
  ['a boot order given twice', [{ name: 'a', bootOrder: 1 }, { name: 'b', bootOrder: 1 }], 'BOOT_ORDER_INVALID'], // biome-ignore format: one case, one line
  ['a virtio CD-ROM', [{ name: 'a', cdrom: { bus: 'virtio' } }], 'DISK_INVALID'],
  ['a read-only SATA disk', [{ name: 'a', disk: { bus: 'sata', readonly: true } }], 'DISK_INVALID'],
  ['a volume shown twice', [{ name: 'a' }, { name: 'b', volumeName: 'a' }].map(({ name, volumeName }) => ({ name: volumeName ?? name })), 'DISK_INVALID'], // biome-ignore format: one case, one line
  ['a serial with a comma', [{ name: 'a', serial: 'x,drive=y' }], 'TEXT_INVALID'],
];
for (const [name, disks, code] of REFUSED) {
  test(`${name} is refused`, () => assert.throws(() => devicesFor(...disks), { code }));
}

test('a disk without a volume is refused', () => {
  assert.throws(() => partsFor([{ name: 'a' }], new Map()), { code: 'DISK_WITHOUT_VOLUME' });
});

test('a CD-ROM drive without a volume is empty, on every bus', () => {
  for (const bus of ['sata', 'scsi', 'usb'] as const) {
    const parts = partsFor([{ name: 'a', cdrom: { bus } }], new Map());
    const drives = parts.flatMap((part) => (part.part === 'device' && part.id === 'disk0' ? [deviceProperties(part)] : []));
    assert.deepEqual([parts.some(({ part }) => part === 'blockdev'), drives.length, drives[0]?.['drive']], [false, 1, undefined]);
  }
});

test('an overlay names its base and both formats, and looks for no other file', () => {
  const base = { path: 'b', format: 'qcow2' } as const;
  const file = { driver: 'file', 'node-name': 'image0-file', filename: 'o', 'read-only': false, discard: 'unmap' };
  assert.deepEqual(nodeFor({ name: 'a' }, { path: 'o', format: 'qcow2', base, isEphemeral: true }), {
    driver: 'qcow2',
    'node-name': 'image0',
    'read-only': false,
    discard: 'unmap',
    cache: { direct: false, 'no-flush': true },
    file: { ...file, cache: { direct: false, 'no-flush': true } },
    backing: {
      driver: 'qcow2',
      'node-name': 'image0-base',
      'read-only': true,
      discard: 'unmap',
      cache: { direct: false, 'no-flush': false },
      file: { ...file, 'node-name': 'image0-base-file', filename: 'b', 'read-only': true, cache: { direct: false, 'no-flush': false } },
      backing: null,
    },
  });
});

for (const [bus, expected] of [
  ['virtio', true],
  ['sata', false],
] as const) {
  // biome-ignore format: two cases
  test(`a cloud-init image on ${bus} is opened ${expected ? 'read-only' : 'for writing, as SATA has no read-only disks'}`, () => {
    assert.equal(nodeFor({ name: 'a', disk: { bus } }, { path: 'i', format: 'raw', isReadOnly: true })['read-only'], expected);
  });
}

test('with the boot order of a card, disks without one are not booted from', () => {
  const given = input({
    disks: [{ name: 'root', disk: { bus: 'virtio' } }],
    interfaces: [{ name: 'default', masquerade: {}, bootOrder: 1 }],
  });
  const disk = machineFor(given).parts.find((part) => part.part === 'device' && part.id === 'disk0');
  assert.equal(disk?.part === 'device' && 'bootindex' in disk.properties, false);
});

test('a disk that matches its volume has the block sizes of what lies beneath', () => {
  const given = input({ disks: [{ name: 'root', disk: { bus: 'virtio' }, blockSize: { matchVolume: {} } }] });
  const image = { path: 'disk.img', format: 'raw', matched: { logicalBytes: 512, physicalBytes: 4096 } } as const;
  const { parts } = machineFor({ ...given, files: { images: new Map([['root', image]]) } });
  const disk = parts.find((part) => part.part === 'device' && part.id === 'disk0');
  const { logical_block_size: logical, physical_block_size: physical } = disk?.part === 'device' ? disk.properties : {};
  assert.deepEqual([logical, physical], [512, 4096]);
});

test('a LUN is the device of its volume, which says itself what it is; a file is none', () => {
  const disk: Disk = { name: 'raw', lun: { bus: 'scsi', readonly: true }, shareable: true, errorPolicy: 'report' };
  const image: DiskImage = { path: '/dev/raw', format: 'raw', isDevice: true };
  const parts = partsFor([disk], new Map([['raw', image]]));
  const [, device] = parts.flatMap((part) => (part.part === 'device' ? [deviceProperties(part)] : []));
  const place = { bus: 'scsi0.0', channel: 0, 'scsi-id': 0, lun: 0 };
  const how = { bootindex: 1, 'share-rw': true, werror: 'report', rerror: 'report' };
  assert.deepEqual(device, { driver: 'scsi-block', ...place, id: 'disk0', drive: 'image0', ...how });
  const { driver, 'read-only': isReadOnly, file } = nodeFor(disk, image);
  assert.deepEqual([driver, isReadOnly, (file as Device)['driver']], ['raw', true, 'host_device']);
  assert.throws(() => partsFor([disk], new Map([['raw', { path: 'raw', format: 'raw' } as DiskImage]])), {
    why: 'its volume is no block device of the node',
  });
});

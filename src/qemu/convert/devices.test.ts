import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Domain } from '../../api/kubevirt/vmi-spec-schema.ts';
import { argumentsFor } from './arguments.ts';
import { type Devices, input, valuesOf } from './vmi.testing.ts';

const added = (devices: Devices, domain: Partial<Domain> = {}): string[] => {
  const plain = argumentsFor(input());
  return argumentsFor(input(devices, {}, domain)).filter((word) => !plain.includes(word));
};
const json = (value: object) => JSON.stringify(value);
/** The slot after those of the devices that every guest has. */
const NEXT = { bus: 'pcie.0', addr: '0x7.0' } as const;

const USB_TABLET = [
  json({ driver: 'qemu-xhci', id: 'input-usb0', ...NEXT, p2: 1, p3: 1 }),
  json({ driver: 'usb-hub', id: 'input-usb0-hub', bus: 'input-usb0.0', port: '1' }),
  json({ driver: 'usb-tablet', id: 'input0', bus: 'input-usb0.0', port: '1.1' }),
];

const CASES: [name: string, devices: Devices, domain: Partial<Domain>, expected: string[]][] = [
  ['a tablet on usb, with a controller', { inputs: [{ name: 'a', type: 'tablet', bus: 'usb' }] }, {}, USB_TABLET],
  [
    'a tablet on virtio',
    { inputs: [{ name: 'a', type: 'tablet', bus: 'virtio' }] },
    {},
    [json({ driver: 'virtio-tablet-pci', id: 'input0', ...NEXT })],
  ],
  ['a tablet that is only asked for', { autoattachInputDevice: true }, {}, USB_TABLET],
  ['a watchdog', { watchdog: { name: 'w' } }, {}, [json({ driver: 'i6300esb', id: 'watchdog0', ...NEXT }), 'watchdog=reset']],
  [
    'a watchdog with an action',
    { watchdog: { name: 'w', i6300esb: { action: 'poweroff' } } },
    {},
    [json({ driver: 'i6300esb', id: 'watchdog0', ...NEXT }), 'watchdog=pause'],
  ],
  [
    'a sound card',
    { sound: { name: 's' } },
    {},
    [
      '-audiodev',
      json({ driver: 'none', id: 'audio0' }),
      json({ driver: 'ich9-intel-hda', id: 'sound0', ...NEXT }),
      json({ driver: 'hda-duplex', id: 'codec0', bus: 'sound0.0', audiodev: 'audio0' }),
    ],
  ],
  [
    'an older sound card',
    { sound: { name: 's', model: 'ac97' } },
    {},
    ['-audiodev', json({ driver: 'none', id: 'audio0' }), json({ driver: 'AC97', id: 'sound0', ...NEXT, audiodev: 'audio0' })],
  ],
  [
    'another graphics card',
    { video: { type: 'virtio' } },
    {},
    [json({ driver: 'virtio-vga', id: 'video0', bus: 'pcie.0', addr: '0x1.0' })],
  ],
  ['an ISA panic device', { panicDevices: [{ model: 'isa' }] }, {}, [json({ driver: 'pvpanic', id: 'panic1', bus: 'isa.0' })]],
  ['the panic device that is there anyway', { panicDevices: [{ model: 'pvpanic' }] }, {}, []],
  ['a guest that ends when it reboots', {}, { rebootPolicy: 'Terminate' }, ['reboot=shutdown']],
  ['a guest that may reboot', {}, { rebootPolicy: 'Reboot' }, []],
  ['a chassis', {}, { chassis: { manufacturer: 'A,B', sku: 'C' } }, ['type=3,manufacturer=A,,B,sku=C']],
];
for (const [name, devices, domain, expected] of CASES) test(name, () => assert.deepEqual(added(devices, domain), expected));

test('no balloon when it is switched off', () => {
  const drivers = (devices: Devices) =>
    valuesOf(argumentsFor(input(devices)), '-device').map((device) => (device as { driver: string }).driver);
  assert.deepEqual(
    drivers({}).filter((driver) => !drivers({ autoattachMemBalloon: false }).includes(driver)),
    ['virtio-balloon-pci'],
  );
});

test('the balloon tells free pages, and every ten seconds how much memory is used, unless the installation says otherwise', () => {
  const balloon = (settings: object) =>
    valuesOf(argumentsFor({ ...input(), settings }), '-device').find((device) => (device as { id: string }).id === 'balloon0');
  const place = { driver: 'virtio-balloon-pci', id: 'balloon0', bus: 'pcie.0' };
  const { addr: _, ...plain } = balloon({}) as Record<string, unknown>;
  assert.deepEqual(plain, { ...place, 'free-page-reporting': true, 'guest-stats-polling-interval': 10 });
  const { addr: __, ...asked } = balloon({ isFreePageReportingOff: true, balloonStatsSeconds: 0 }) as Record<string, unknown>;
  assert.deepEqual(asked, { ...place, 'free-page-reporting': false });
});

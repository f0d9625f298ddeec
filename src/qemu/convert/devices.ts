/** Devices beside disks, network cards and consoles: those that every guest has without asking, and those that it can ask for. */
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { MachineSettings } from '../../api/launcher/machine-settings.ts';
import type { Device, Part } from './machine-model.ts';
import { setting } from './option-text.ts';
import { card, type RootBus, tabletsOf } from './root-bus.ts';
import { usbDevice } from './usb.ts';

/** As upstream asks for them. */
const BALLOON_STATS_SECONDS = 10;

type Devices = VmiSpec['domain']['devices'];

/** What QEMU does for each action. It would exit for `poweroff`, and nobody could tell why: paused, it waits to be asked. */
const WATCHDOG_ACTIONS = { poweroff: 'pause', reset: 'reset', shutdown: 'shutdown' } as const;

/** Randomness, a balloon that gives free pages back to the host, and a way for the guest to say that it panicked. */
export function standardDeviceParts({ domain }: VmiSpec, rootBus: RootBus, settings: MachineSettings = {}): Part[] {
  const { devices, rebootPolicy } = domain;
  return [
    // rng-builtin needs no file of the host.
    { part: 'object', id: 'rng0', type: 'rng-builtin', properties: {} },
    ...card(rootBus, 'virtio-rng0', 'virtio-rng-pci', { rng: 'rng0' }),
    ...card(rootBus, 'balloon0', 'virtio-balloon-pci', balloon(settings)),
    ...card(rootBus, 'panic0', 'pvpanic-pci'),
    ...(devices.panicDevices?.some(({ model }) => model === 'isa') ? [ISA_PANIC] : []),
    // Paused, not ended: virt-handler sees over QMP that it was a panic, and a dump can be taken.
    setting('-action', 'panic=pause'),
    // With -no-shutdown this is as if the guest had powered off.
    ...(rebootPolicy === 'Terminate' ? [setting('-action', 'reboot=shutdown')] : []),
    ...tablets(devices, rootBus),
    ...watchdog(devices, rootBus),
    ...sound(devices, rootBus),
  ];
}

function balloon({ isFreePageReportingOff = false, balloonStatsSeconds = BALLOON_STATS_SECONDS }: MachineSettings): Device['properties'] {
  return {
    'free-page-reporting': !isFreePageReportingOff,
    ...(balloonStatsSeconds > 0 && { 'guest-stats-polling-interval': balloonStatsSeconds }),
  };
}

const ISA_PANIC: Device = { part: 'device', id: 'panic1', driver: 'pvpanic', place: { kind: 'bus', bus: 'isa.0' }, properties: {} };

/** Pointers that know where on the screen they are, so that a VNC viewer's own pointer can be followed. */
function tablets(devices: Devices, rootBus: RootBus): Part[] {
  return tabletsOf(devices).flatMap((bus, index) => {
    if (bus === 'virtio') return card(rootBus, `input${index}`, 'virtio-tablet-pci');
    const controller = `input-usb${index}`;
    return [
      ...card(rootBus, controller, 'qemu-xhci', { p2: 1, p3: 1 }),
      ...usbDevice({ controller, ports: 1, port: 1 }, { id: `input${index}`, driver: 'usb-tablet', properties: {} }),
    ];
  });
}

function watchdog({ watchdog }: Devices, rootBus: RootBus): Part[] {
  if (!watchdog) return [];
  const { action = 'reset' } = watchdog.i6300esb ?? {};
  return [...card(rootBus, 'watchdog0', 'i6300esb'), setting('-action', `watchdog=${WATCHDOG_ACTIONS[action]}`)];
}

/** What the guest plays goes nowhere. */
function sound({ sound }: Devices, rootBus: RootBus): Part[] {
  if (!sound) return [];
  const audiodev = 'audio0';
  const cards: Part[] =
    sound.model === 'ac97'
      ? card(rootBus, 'sound0', 'AC97', { audiodev })
      : [
          ...card(rootBus, 'sound0', 'ich9-intel-hda'),
          { part: 'device', id: 'codec0', driver: 'hda-duplex', place: { kind: 'bus', bus: 'sound0.0' }, properties: { audiodev } },
        ];
  return [{ part: 'audiodev', id: audiodev, driver: 'none' }, ...cards];
}

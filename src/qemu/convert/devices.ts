/** Devices beside disks, network cards and consoles: those that every guest has without asking, and those that it can ask for. */
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { jsonOption } from './option-text.ts';

type Devices = VmiSpec['domain']['devices'];

/** What QEMU does for each action. It would exit for `poweroff`, and nobody could tell why: paused, it waits to be asked. */
const WATCHDOG_ACTIONS = { poweroff: 'pause', reset: 'reset', shutdown: 'shutdown' } as const;

/** Randomness, a balloon that gives free pages back to the host, and a way for the guest to say that it panicked. */
export function standardDeviceArguments({ domain }: VmiSpec): string[] {
  const { devices, rebootPolicy } = domain;
  return [
    // rng-builtin needs no file of the host.
    ...jsonOption('-object', { 'qom-type': 'rng-builtin', id: 'rng0' }),
    ...jsonOption('-device', { driver: 'virtio-rng-pci', id: 'virtio-rng0', rng: 'rng0' }),
    ...(devices.autoattachMemBalloon === false
      ? []
      : jsonOption('-device', { driver: 'virtio-balloon-pci', id: 'balloon0', 'free-page-reporting': true })),
    ...jsonOption('-device', { driver: 'pvpanic-pci', id: 'panic0' }),
    ...(devices.panicDevices?.some(({ model }) => model === 'isa') ? jsonOption('-device', { driver: 'pvpanic', id: 'panic1' }) : []),
    // Paused, not ended: virt-handler sees over QMP that it was a panic, and a dump can be taken.
    ...['-action', 'panic=pause'],
    // With -no-shutdown this is as if the guest had powered off.
    ...(rebootPolicy === 'Terminate' ? ['-action', 'reboot=shutdown'] : []),
    ...inputs(devices),
    ...watchdog(devices),
    ...sound(devices),
  ];
}

/** Tablets: pointers that know where on the screen they are, so that a VNC viewer's own pointer can be followed. */
function inputs({ inputs = [], autoattachInputDevice }: Devices): string[] {
  const wanted = inputs.length === 0 && autoattachInputDevice ? [{ bus: 'usb' as const }] : inputs;
  return wanted.flatMap(({ bus }, index) =>
    bus === 'virtio'
      ? jsonOption('-device', { driver: 'virtio-tablet-pci', id: `input${index}` })
      : // A controller each: one for all would have to be shared with the disks.
        [
          ...jsonOption('-device', { driver: 'qemu-xhci', id: `input-usb${index}`, p2: 1, p3: 1 }),
          ...jsonOption('-device', { driver: 'usb-tablet', id: `input${index}`, bus: `input-usb${index}.0` }),
        ],
  );
}

function watchdog({ watchdog }: Devices): string[] {
  if (!watchdog) return [];
  const { action = 'reset' } = watchdog.i6300esb ?? {};
  return [...jsonOption('-device', { driver: 'i6300esb', id: 'watchdog0' }), '-action', `watchdog=${WATCHDOG_ACTIONS[action]}`];
}

/** What the guest plays goes nowhere. */
function sound({ sound }: Devices): string[] {
  if (!sound) return [];
  const card =
    sound.model === 'ac97'
      ? jsonOption('-device', { driver: 'AC97', id: 'sound0', audiodev: 'audio0' })
      : [
          ...jsonOption('-device', { driver: 'ich9-intel-hda', id: 'sound0' }),
          ...jsonOption('-device', { driver: 'hda-duplex', id: 'codec0', bus: 'sound0.0', audiodev: 'audio0' }),
        ];
  return [...jsonOption('-audiodev', { driver: 'none', id: 'audio0' }), ...card];
}

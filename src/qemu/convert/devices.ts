/** Devices that every guest has without asking, and the watchdog that some ask for. */
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { jsonOption } from './option-text.ts';

/** What QEMU does for each action. It would exit for `poweroff`, and nobody could tell why: paused, it waits to be asked. */
const WATCHDOG_ACTIONS = { poweroff: 'pause', reset: 'reset', shutdown: 'shutdown' } as const;

/** Randomness, a balloon that gives free pages back to the host, a way for the guest to say that it panicked, and its watchdog. */
export function standardDeviceArguments({ domain }: VmiSpec): string[] {
  const { i6300esb } = domain.devices.watchdog ?? {};
  return [
    // rng-builtin needs no file of the host.
    ...jsonOption('-object', { 'qom-type': 'rng-builtin', id: 'rng0' }),
    ...jsonOption('-device', { driver: 'virtio-rng-pci', id: 'virtio-rng0', rng: 'rng0' }),
    ...jsonOption('-device', { driver: 'virtio-balloon-pci', id: 'balloon0', 'free-page-reporting': true }),
    ...jsonOption('-device', { driver: 'pvpanic-pci', id: 'panic0' }),
    ...(i6300esb ? jsonOption('-device', { driver: 'i6300esb', id: 'watchdog0' }) : []),
    // Paused, not ended: virt-handler sees over QMP that it was a panic, and a dump can be taken.
    ...['-action', `panic=pause${i6300esb ? `,watchdog=${WATCHDOG_ACTIONS[i6300esb.action ?? 'reset']}` : ''}`],
  ];
}

/** Devices that every guest has without asking. */
import { jsonOption } from './option-text.ts';

/** Randomness, a balloon that gives free pages back to the host, and a way for the guest to say that it panicked. */
export function standardDeviceArguments(): string[] {
  return [
    // rng-builtin needs no file of the host.
    ...jsonOption('-object', { 'qom-type': 'rng-builtin', id: 'rng0' }),
    ...jsonOption('-device', { driver: 'virtio-rng-pci', id: 'virtio-rng0', rng: 'rng0' }),
    ...jsonOption('-device', { driver: 'virtio-balloon-pci', id: 'balloon0', 'free-page-reporting': true }),
    ...jsonOption('-device', { driver: 'pvpanic-pci', id: 'panic0' }),
    // Paused, not ended: virt-handler sees over QMP that it was a panic, and a dump can be taken.
    ...['-action', 'panic=pause'],
  ];
}

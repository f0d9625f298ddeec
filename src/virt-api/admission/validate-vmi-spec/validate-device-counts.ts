/** Whether the board has room for all devices: slots for cards, ports for disks. QEMU would find out later, when nobody looks. */
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedSpec } from './checked-spec.ts';

/** Slots of the root bus that the board does not use itself. */
const SLOTS = 30;
const SATA_PORTS = 6;
const MOST: Readonly<Record<string, number>> = { sata: 60, usb: 15, scsi: 256 };

export function validateDeviceCounts(spec: CheckedSpec, path: string): StatusCause[] {
  const disks = disksByBus(spec);
  const full = Object.entries(MOST).filter(([bus, most]) => (disks.get(bus) ?? 0) > most);
  const causes = full.map(([bus, most]) =>
    invalidCause(`${path}.domain.devices.disks`, disks.get(bus), `the bus ${bus} takes at most ${most} disks`),
  );
  const needed = slotsOf(spec, disks);
  if (needed > SLOTS)
    causes.push(
      invalidCause(
        `${path}.domain.devices`,
        needed,
        `the devices need more than the ${SLOTS} slots of the board; use bus scsi for the disks, 256 of them share one slot`,
      ),
    );
  return causes;
}

/** A volume without a disk gets one, on sata. */
function disksByBus({ domain, volumes = [] }: CheckedSpec): ReadonlyMap<string, number> {
  const disks = domain?.devices?.disks ?? [];
  const shown = new Set(disks.map(({ name, volumeName }) => volumeName || name));
  const buses = [
    ...disks.map(({ disk, cdrom }) => (cdrom ?? disk)?.bus || 'sata'),
    ...volumes.filter(({ name }) => !shown.has(name)).map(() => 'sata'),
  ];
  const counts = new Map<string, number>();
  for (const bus of buses) counts.set(bus, (counts.get(bus) ?? 0) + 1);
  return counts;
}

function slotsOf({ domain, networks = [] }: CheckedSpec, disks: ReadonlyMap<string, number>): number {
  const { interfaces = [], inputs = [], panicDevices = [], ...devices } = domain?.devices ?? {};
  const hasDefaultCard = interfaces.length === 0 && networks.length === 0 && devices.autoattachPodInterface !== false;
  const [virtio = 0, sata = 0] = [disks.get('virtio'), disks.get('sata')];
  const single = [
    true, // randomness
    true, // pvpanic
    true, // the channel of the guest agent
    devices.autoattachGraphicsDevice !== false,
    devices.autoattachMemBalloon !== false,
    hasDefaultCard,
    disks.has('scsi'),
    disks.has('usb'),
    devices.watchdog,
    devices.sound,
    inputs.length === 0 && devices.autoattachInputDevice,
    panicDevices.some(({ model }) => model === 'isa'),
  ].filter(Boolean).length;
  return single + virtio + Math.max(0, Math.ceil(sata / SATA_PORTS) - 1) + interfaces.length + inputs.length;
}

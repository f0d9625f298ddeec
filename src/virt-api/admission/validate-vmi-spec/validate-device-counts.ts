/** Whether the board has room for all devices: slots for cards, ports for disks. QEMU would find out later, when nobody looks. */
import { startedSpec } from '../../../api/kubevirt/hotplug.ts';
import { normaliseVmiSpec } from '../../../api/kubevirt/normalise-vmi-spec.ts';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { MOST_DISKS_ON, MOST_ROOT_BUS_DEVICES } from '../../../qemu/convert/limits.ts';
import { busOf, rootBusDevices } from '../../../qemu/convert/root-bus.ts';

export function validateDeviceCounts(given: VmiSpec, path: string): StatusCause[] {
  // A volume without a disk gets one when the instance is made.
  const spec = normaliseVmiSpec(given);
  const buses = (spec.domain.devices.disks ?? []).map(busOf);
  const causes = Object.entries(MOST_DISKS_ON).flatMap(([bus, most]) => {
    const count = buses.filter((each) => each === bus).length;
    return count > most ? [invalidCause(`${path}.domain.devices.disks`, count, `the bus ${bus} takes at most ${most} disks`)] : [];
  });
  const needed = rootBusDevices(startedSpec(spec)).length; // what is hotplugged has ports
  if (needed > MOST_ROOT_BUS_DEVICES)
    causes.push(
      invalidCause(
        `${path}.domain.devices`,
        needed,
        `the devices need more than the ${MOST_ROOT_BUS_DEVICES} slots of the board; use bus scsi for the disks, 256 of them share one slot`,
      ),
    );
  return causes;
}

/**
 * Ports for devices that come while the guest runs: nothing can be plugged into the root bus itself. They share the last slot of that bus, which
 * other devices reach last, so no device has another place than it had without them. KubeVirt keeps as many ports free: three, and six from
 * two gigabytes of memory. A port costs a guest about a tenth of a second of its boot under emulation, and no memory.
 */
import { startedSpec } from '../../api/kubevirt/hotplug.ts';
import { guestMemoryBytesOf } from '../../api/kubevirt/vmi-size.ts';
import type { Domain, VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { ROOT_BUS_SLOTS } from './limits.ts';
import type { Board, Device, Machine } from './machine-model.ts';
import { ROOT_BUS, type RootBus, rootBusOf } from './root-bus.ts';

type Devices = Pick<Domain['devices'], 'disableHotplug'>;

const PORTS = { small: 3, large: 6 } as const;
const LARGE_KIB = 2 * 2 ** 20;
const DRIVER = 'pcie-root-port';

/** The ports of a machine; none when a device has their slot, or nothing is to be plugged in. */
export function hotplugPorts({ memoryKib }: Pick<Board, 'memoryKib'>, rootBus: RootBus, { disableHotplug }: Devices = {}): Device[] {
  if (disableHotplug) return [];
  const slot = ROOT_BUS_SLOTS.last;
  if ([...rootBus.values()].some((place) => place.slot === slot)) return [];
  return Array.from({ length: memoryKib < LARGE_KIB ? PORTS.small : PORTS.large }, (_, index) => ({
    ...{ part: 'device', id: `hotplug${index}`, driver: DRIVER },
    place: { kind: 'pci', bus: ROOT_BUS, slot, function: index },
    properties: { chassis: index + 1, multifunction: true },
  }));
}

/** How many ports the machine of this spec has for what is plugged in. */
export function portCountOf(spec: VmiSpec): number {
  const started = startedSpec(spec);
  const memoryKib = (guestMemoryBytesOf(spec) ?? 0) / 1024;
  return hotplugPorts({ memoryKib }, rootBusOf(started), spec.domain.devices).length;
}

/** The place in each port that no device of this machine has. */
export function freePorts({ parts }: Pick<Machine, 'parts'>): Device['place'][] {
  const devices = parts.filter((part) => part.part === 'device');
  const taken = new Set(devices.map(({ place }) => place.bus));
  const ports = devices.filter(({ driver, id }) => driver === DRIVER && !taken.has(id));
  return ports.map(({ id }) => ({ kind: 'pci', bus: id, slot: 0, function: 0 }));
}

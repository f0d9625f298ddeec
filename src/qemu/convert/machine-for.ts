/** From a VirtualMachineInstance to a machine. Pure: the same instance on the same host always gives the same machine. */
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import { consoleParts } from './consoles.ts';
import { standardDeviceParts } from './devices.ts';
import { diskParts } from './disks.ts';
import { filesystemParts } from './filesystems.ts';
import { hotplugPorts } from './hotplug-ports.ts';
import type { ConvertInput } from './input.ts';
import { ioThreadParts } from './io-threads.ts';
import { boardOf } from './machine.ts';
import type { Machine } from './machine-model.ts';
import { networkParts } from './network.ts';
import { rootBusOf } from './root-bus.ts';
import { transitional } from './transitional.ts';

/** The machine of this instance; a UserError names what cannot be run. */
export function machineFor(input: ConvertInput): Machine {
  const vmi = { ...input.vmi, spec: normaliseVmiSpec(input.vmi.spec) };
  const rootBus = rootBusOf(vmi.spec);
  const board = boardOf({ ...input, vmi });
  return {
    board,
    isStartedPaused: vmi.spec.startStrategy === 'Paused',
    ...(input.host.isIncoming && { isIncoming: true }),
    parts: transitional(vmi.spec.domain.devices, [
      ...consoleParts(vmi.spec, rootBus),
      ...ioThreadParts(vmi.spec.domain),
      ...diskParts(vmi.spec, input.files.images, rootBus),
      ...networkParts(input, rootBus),
      ...standardDeviceParts(vmi.spec, rootBus, input.settings),
      ...filesystemParts(vmi.spec, rootBus),
      ...hotplugPorts(board, rootBus, vmi.spec.domain.devices),
    ]),
  };
}

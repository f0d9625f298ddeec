/** From a VirtualMachineInstance to QEMU's arguments. Pure: the same instance on the same host always gives the same machine. */
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import { consoleArguments } from './consoles.ts';
import { standardDeviceArguments } from './devices.ts';
import { diskArguments } from './disks.ts';
import type { ConvertInput } from './input.ts';
import { ioThreadArguments } from './io-threads.ts';
import { machineArguments } from './machine.ts';
import { networkArguments } from './network.ts';
import { specError } from './option-text.ts';

/** Slots of the root bus that the board does not use itself. */
const PCI_SLOTS = 30;

/** The arguments (without the program's name) that run this instance; a UserError names what cannot be run. */
export function argumentsFor(input: ConvertInput): string[] {
  const vmi = { ...input.vmi, spec: normaliseVmiSpec(input.vmi.spec) };
  const devices = [
    ...consoleArguments(vmi.spec),
    ...ioThreadArguments(vmi.spec.domain),
    ...diskArguments(vmi.spec, input.files.images),
    ...networkArguments(vmi),
    ...standardDeviceArguments(vmi.spec),
  ];
  checkSlots(devices);
  return [
    ...['-nodefaults', '-no-user-config'],
    // How a guest ended stays visible over QMP until virt-handler has read it.
    ...['-no-shutdown'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ...machineArguments({ ...input, vmi }),
    // Only the disks that have a boot index, in that order.
    ...['-boot', 'strict=on'],
    ...(vmi.spec.startStrategy === 'Paused' ? ['-S'] : []),
    ...devices,
  ];
}

/** Devices that name no bus sit on the root bus. */
function checkSlots(args: readonly string[]): void {
  const devices = args.filter((_, index) => args[index - 1] === '-device').map((text) => JSON.parse(text));
  const needed = devices.filter((device) => !('bus' in device)).length;
  if (needed > PCI_SLOTS) {
    const why = `they need ${needed} PCI slots, there are ${PCI_SLOTS}`;
    throw specError('TOO_MANY_DEVICES', 'spec.domain.devices', why, 'use bus scsi for the disks, 256 of them share one slot');
  }
}

/** From a VirtualMachineInstance to QEMU's arguments. */
import type { ConvertInput } from './input.ts';
import { machineFor } from './machine-for.ts';
import { renderArguments } from './render-arguments.ts';

/** The arguments (without the program's name) that run this instance; a UserError names what cannot be run. */
export function argumentsFor(input: ConvertInput): string[] {
  return renderArguments(machineFor(input));
}

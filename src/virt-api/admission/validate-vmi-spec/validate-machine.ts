/** The board must be one that we have, and that the installation allows. */
import { type ClusterConfiguration, isAmongMachines } from '../../../api/kubevirt/configuration/cluster-configuration.ts';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { MACHINE_TYPE } from '../../../qemu/convert/limits.ts';

export function validateMachine({ domain }: VmiSpec, path: string, { emulatedMachines }: ClusterConfiguration): StatusCause[] {
  const type = domain.machine?.type;
  if (!type || (MACHINE_TYPE.test(type) && isAmongMachines(type, emulatedMachines))) return [];
  const allowed = emulatedMachines.join(', ');
  return [invalidCause(`${path}.domain.machine.type`, type, `machine type is not supported, allowed are ${allowed}`)];
}

/** The board must be one that we have. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { MACHINE_TYPE } from '../../../qemu/convert/limits.ts';

export function validateMachine({ domain }: VmiSpec, path: string): StatusCause[] {
  const type = domain.machine?.type;
  if (!type || MACHINE_TYPE.test(type)) return [];
  return [invalidCause(`${path}.domain.machine.type`, type, 'machine type is not supported, allowed are q35*, pc-q35*')];
}

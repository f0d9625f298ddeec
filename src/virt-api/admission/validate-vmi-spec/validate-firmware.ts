/** Firmware: the identity of the machine. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isPrintable, UUID } from '../../../qemu/convert/limits.ts';

export function validateFirmware({ domain }: VmiSpec, path: string): StatusCause[] {
  const { uuid, serial } = domain.firmware ?? {};
  const at = `${path}.domain.firmware`;
  const causes: StatusCause[] = [];
  if (uuid && !UUID.test(uuid)) causes.push(invalidCause(`${at}.uuid`, uuid, 'must be a UUID'));
  if (serial && (!isPrintable(serial) || serial.length > 256))
    causes.push(invalidCause(`${at}.serial`, serial.slice(0, 64), 'must be printable text of at most 256 characters'));
  return causes;
}

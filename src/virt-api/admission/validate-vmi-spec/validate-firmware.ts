/** Firmware: the identity of the machine. */
import { kernelBootCauses } from '../../../api/kubevirt/kernel-boot.ts';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isPrintable, UUID } from '../../../qemu/convert/limits.ts';

export function validateFirmware(spec: VmiSpec, path: string): StatusCause[] {
  const { domain } = spec;
  const { uuid, serial, bootloader } = domain.firmware ?? {};
  const at = `${path}.domain.firmware`;
  const causes = kernelBootCauses(spec, path);
  const { kernelArgs } = domain.firmware?.kernelBoot ?? {};
  if (kernelArgs && !isPrintable(kernelArgs))
    causes.push(invalidCause(`${at}.kernelBoot.kernelArgs`, kernelArgs.slice(0, 64), 'must be printable text'));
  if (uuid && !UUID.test(uuid)) causes.push(invalidCause(`${at}.uuid`, uuid, 'must be a UUID'));
  if (serial && (!isPrintable(serial) || serial.length > 256))
    causes.push(invalidCause(`${at}.serial`, serial.slice(0, 64), 'must be printable text of at most 256 characters'));
  if (bootloader?.bios?.useSerial && domain.devices.autoattachSerialConsole === false)
    causes.push(invalidCause(`${at}.bootloader.bios.useSerial`, true, 'there is no serial console while autoattachSerialConsole is false'));
  return causes;
}

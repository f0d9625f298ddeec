/** Firmware: the identity of the machine, how it boots, a kernel from outside. */
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedSpec } from './checked-spec.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
const UNPRINTABLE = /[\u0000-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

export function validateFirmware({ domain }: CheckedSpec, path: string): StatusCause[] {
  const { uuid, serial, bootloader, kernelBoot } = domain?.firmware ?? {};
  const at = `${path}.domain.firmware`;
  const causes: StatusCause[] = [];
  if (uuid && !UUID.test(uuid)) causes.push(invalidCause(`${at}.uuid`, uuid, 'must be a UUID'));
  if (serial && (UNPRINTABLE.test(serial) || serial.length > 256))
    causes.push(invalidCause(`${at}.serial`, serial.slice(0, 64), 'must be printable text of at most 256 characters'));
  if (bootloader?.bios && bootloader.efi) causes.push(invalidCause(`${at}.bootloader`, 'bios, efi', 'bios and efi exclude each other'));
  // Secure boot is the default of EFI, and it needs system management mode.
  if (bootloader?.efi && bootloader.efi.secureBoot !== false && domain?.features?.smm?.enabled === false)
    causes.push(invalidCause(`${at}.bootloader.efi.secureBoot`, true, `needs ${path}.domain.features.smm.enabled`));
  return [...causes, ...(kernelBoot ? kernelCauses(kernelBoot, `${at}.kernelBoot`) : [])];
}

type KernelBoot = NonNullable<NonNullable<NonNullable<CheckedSpec['domain']>['firmware']>['kernelBoot']>;

function kernelCauses({ kernelArgs, container }: KernelBoot, at: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (kernelArgs && !container?.kernelPath)
    causes.push(invalidCause(`${at}.kernelArgs`, kernelArgs, 'needs a kernel: set container.kernelPath'));
  if (!container) return causes;
  if (!container.image) causes.push(requiredCause(`${at}.container.image`, 'the image that holds the kernel'));
  if (!container.kernelPath && !container.initrdPath) causes.push(requiredCause(`${at}.container.kernelPath`, 'set this or initrdPath'));
  for (const name of ['kernelPath', 'initrdPath'] as const) {
    const file = container[name];
    if (file && (!file.startsWith('/') || /^\/+$/.test(file)))
      causes.push(invalidCause(`${at}.container.${name}`, file, 'must be the absolute path of a file'));
  }
  return causes;
}

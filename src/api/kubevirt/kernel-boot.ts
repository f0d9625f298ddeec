/** A kernel that comes in a container image, and what is to be said of it: where the launcher Pod has it, and what is wrong with it. Pure. */
import { invalidCause, requiredCause } from '../../base/causes.ts';
import { subdomainCauses } from '../../base/dns-name-causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';
import { imageCauses, pathCauses } from './volumes/container-disk.ts';
import type { DiskImageSource } from './volumes/volume-source.ts';

/** The name under which the launcher Pod has the image, as if it were that of a volume; no volume may have it. */
export const KERNEL_BOOT_VOLUME = 'kernel-boot-volume';

/** The image, if the machine starts from one. */
export function kernelImageOf({ domain }: VmiSpec): DiskImageSource | undefined {
  return domain.firmware?.kernelBoot?.container;
}

export function kernelBootCauses({ domain, volumes = [] }: VmiSpec, path: string): StatusCause[] {
  const { container, kernelArgs } = domain.firmware?.kernelBoot ?? {};
  const at = `${path}.domain.firmware.kernelBoot`;
  if (!container) return kernelArgs ? [requiredCause(`${at}.container`, 'there is no kernel that the arguments could be for')] : [];
  const { image, kernelPath, initrdPath, imagePullSecret } = container;
  const taken = volumes.findIndex(({ name }) => name === KERNEL_BOOT_VOLUME);
  return [
    ...imageCauses(`${at}.container.image`, image),
    ...(kernelPath ? pathCauses(`${at}.container.kernelPath`, kernelPath) : [requiredCause(`${at}.container.kernelPath`)]),
    ...pathCauses(`${at}.container.initrdPath`, initrdPath || undefined),
    ...subdomainCauses(`${at}.container.imagePullSecret`, imagePullSecret || undefined),
    ...(taken < 0 ? [] : [invalidCause(`${path}.volumes[${taken}].name`, KERNEL_BOOT_VOLUME, 'is that of the image of the kernel')]),
  ];
}

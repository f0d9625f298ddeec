/** The kernel that a machine is started with, and its initrd, out of a container image: copied beside the disks, where QEMU alone can read them. */
import { closeSync, copyFileSync, fstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Domain } from '../api/kubevirt/vmi-spec-schema.ts';
import { UserError } from '../base/errors.ts';
import { formatBytes } from '../base/quantity.ts';
import type { BootFiles } from '../qemu/convert/input.ts';
import { openInRoot } from './open-in-root.ts';
import type { Privileges } from './privileges.ts';

/** No kernel or initrd that is meant to be loaded into memory is larger. */
const MOST_BYTES = 512 * 2 ** 20;

type Options = {
  readonly domain: Domain;
  readonly folder: string;
  /** Where the image is, looked for only when it is needed. */
  readonly root: () => string;
  readonly privileges: Privileges;
  readonly report: (line: string) => void;
};

/** Undefined for a machine that starts from its disks. */
export function copyBootFiles({ domain, folder, root, privileges, report }: Options): BootFiles | undefined {
  const { kernelPath, initrdPath } = domain.firmware?.kernelBoot?.container ?? {};
  if (!kernelPath) return undefined;
  const copied = (from: string, name: string): string => {
    const path = join(folder, name);
    const file = privileges.asRoot(() => openInRoot(root(), from));
    try {
      const { size } = fstatSync(file);
      if (size > MOST_BYTES)
        throw new UserError('KERNEL_TOO_LARGE', `${from} of the image has ${formatBytes(size)}`, {
          why: `a kernel or an initrd has at most ${formatBytes(MOST_BYTES)}`,
        });
      copyFileSync(`/proc/self/fd/${file}`, path);
      report(`${name}: ${from}, ${formatBytes(size)}`);
      return path;
    } finally {
      closeSync(file);
    }
  };
  return { kernel: copied(kernelPath, 'kernel'), ...(initrdPath && { initrd: copied(initrdPath, 'initrd') }) };
}

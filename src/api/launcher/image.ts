/** The image of virt-launcher, by its name: whoever may use it hands QEMU an instance that nobody has admitted. */
import { LAUNCHER_PROGRAM } from './compute.ts';

/** True for every reference that could name it, whatever its registry, tag or digest. */
export function mayBeLauncherImage(reference: string): boolean {
  const [name = ''] = reference.split('@');
  const [last = ''] = (name.split('/').at(-1) ?? '').split(':');
  return last === LAUNCHER_PROGRAM;
}

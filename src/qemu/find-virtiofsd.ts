/** The program that shares folders with guests. */
import { existsSync } from 'node:fs';

/** Debian 12 has it beside QEMU; later releases, and Fedora, where programs for other programs are. */
const PLACES = ['/usr/libexec/virtiofsd', '/usr/lib/qemu/virtiofsd', '/usr/lib/virtiofsd'];

/** Where it is; undefined when it is not installed. */
export function findVirtiofsd(): string | undefined {
  return PLACES.find((path) => existsSync(path));
}

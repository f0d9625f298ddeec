/** The programs that native containers need, and how to get them; the kubelet starts them and `virtctl doctor` names those that are missing. */
import { findProgram } from './find-program.ts';

/** Of Debian's packages of the same names, and those that every Debian has. */
const CONTAINER_PROGRAMS = ['crun', 'slirp4netns', 'unshare', 'nsenter', 'ip'] as const;

/** Those that are not there; root's folders are looked into, whatever PATH says. */
export function missingContainerPrograms(path: string | undefined): string[] {
  const folders = `${path || '/usr/local/bin:/usr/bin:/bin'}:/usr/sbin:/sbin`;
  return CONTAINER_PROGRAMS.filter((program) => !findProgram(program, folders));
}

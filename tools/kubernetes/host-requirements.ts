/** Why this machine cannot carry a real cluster, said before anything is done. */
import { UserError } from '../../src/base/errors.ts';
import { findProgram } from '../../src/base/node/find-program.ts';

const PACKAGE_OF: Readonly<Record<string, string>> = {
  ip: 'iproute2',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  tar: 'tar',
  'dpkg-deb': 'dpkg',
  'apt-get': 'apt',
};

/** Throws the first thing that is missing; Go is asked for only when something has to be built. */
export function requireHost(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new UserError('ROOT_NEEDED', 'a real Kubernetes with nodes needs root', {
      why: 'it makes network bridges, namespaces, mounts and cgroups',
      fix: 'run the same command as root: sudo -E tools/kubernetes/up',
      exitCode: 7,
    });
  }
  for (const [program, name] of Object.entries(PACKAGE_OF)) {
    if (findProgram(program, `${process.env['PATH']}:/usr/sbin:/sbin`)) continue;
    throw new UserError('PROGRAM_MISSING', `the program ${program} is not installed`, { fix: `apt-get install ${name}`, exitCode: 7 });
  }
}

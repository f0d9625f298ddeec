/** Installs a Debian into a folder or an archive, from where this machine has its own packages. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import { debianSources } from './packages.ts';

const SUITE = 'bookworm';
/** What nobody reads in a system of a few hundred megabytes. */
const LEFT_OUT = ['/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*', '/usr/share/doc/*'];

export type MmdebstrapInput = {
  /** Where mmdebstrap itself was unpacked. */
  readonly packagesDir: string;
  readonly workDir: string;
  readonly packages: readonly string[];
  readonly options: readonly string[];
  /** A folder, or an archive. */
  readonly to: string;
};

/** As root in a chroot, otherwise in a user namespace, which takes ranges in /etc/subuid. */
export function mmdebstrap({ packagesDir, workDir, packages, options, to }: MmdebstrapInput): void {
  const args = [
    ...[`--mode=${isRoot() ? 'root' : 'unshare'}`, '--quiet', `--include=${packages.join(',')}`],
    ...LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`),
    '--dpkgopt=path-include=/usr/share/doc/*/copyright',
    ...[...options, SUITE, to, ...debianSources(SUITE)],
  ];
  const path = `${join(packagesDir, 'usr/bin')}:${process.env['PATH']}`;
  const env = { ...process.env, PATH: `${path}:/usr/sbin:/sbin`, ...(isRoot() && { TMPDIR: workDir }), LC_ALL: 'C' };
  try {
    execFileSync(join(packagesDir, 'usr/bin/mmdebstrap'), args, { env, stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 64 * 2 ** 20 });
  } catch (error) {
    throw new UserError('GUEST_SYSTEM', 'cannot install Debian into a folder', {
      why: String((error as { stderr?: unknown }).stderr ?? error) // what a program said before it left
        .trim()
        .split('\n')
        .slice(-3)
        .join('; '),
      fix: isRoot()
        ? 'check that apt works on this machine (apt-get update) and that its package mirror can be reached'
        : 'apt-get install uidmap fakeroot, and a range for this user in /etc/subuid and /etc/subgid; or build it as root',
      cause: error,
    });
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

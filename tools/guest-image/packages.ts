/** Debian packages as files: downloaded with a private apt state and unpacked, never installed; works without root. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';

/** Downloads the packages (a metapackage stands for the first one it depends on) and unpacks them all into `into`. */
export function unpackPackages({ names, workDir, into }: { names: readonly string[]; workDir: string; into: string }): void {
  const apt = privateApt(workDir);
  apt('update');
  const debs = join(workDir, 'debs');
  mkdirSync(debs, { recursive: true });
  apt(
    'download',
    names.map((name) => resolveMetapackage(name, apt)),
    debs,
  );
  for (const deb of readdirSync(debs)) execFileSync('dpkg-deb', ['-x', join(debs, deb), into]);
}

type Apt = (verb: string, args?: readonly string[], cwd?: string) => string;

function privateApt(workDir: string): Apt {
  const state = join(workDir, 'apt');
  for (const folder of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(state, folder), { recursive: true });
  const options = [
    `Dir::State::Lists=${state}/lists`,
    `Dir::Cache=${state}/cache`,
    'APT::Sandbox::User=',
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false',
  ];
  return (verb, args = [], cwd = workDir) => {
    const program = verb === 'depends' ? 'apt-cache' : 'apt-get';
    try {
      return execFileSync(program, [...options.flatMap((option) => ['-o', option]), '-qq', verb, ...args], {
        cwd,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    } catch (error) {
      throw new UserError('GUEST_PACKAGES', `cannot fetch Debian packages: ${program} ${verb} failed`, {
        why: String((error as { stderr?: string }).stderr ?? error).trim(),
        fix: 'check that apt works on this machine (apt-get update) and that its package mirror can be reached',
        cause: error,
      });
    }
  };
}

function resolveMetapackage(name: string, apt: Apt): string {
  if (!name.startsWith('linux-image-')) return name;
  const depends = /Depends: (linux-image-\S+)/.exec(apt('depends', [name]));
  return depends?.[1] ?? name;
}

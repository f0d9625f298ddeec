/** Debian packages as files: downloaded with a private apt state and unpacked, never installed; works without root. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';

const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const DEBIAN_MIRROR = 'http://deb.debian.org/debian';
const DEBIAN_SUITE = /^(bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)$/;

export type PackagesInput = {
  readonly names: readonly string[];
  /** One beside the machine's own, for names such as `busybox-static:i386`. */
  readonly architecture?: string | undefined;
  /** Another Debian than the machine's own, such as `trixie`, from the same mirror. */
  readonly suite?: string | undefined;
  readonly workDir: string;
  readonly into: string;
  /** Everything that they need, too, as on a machine where nothing is installed. */
  readonly withDependencies?: boolean;
};

/** Downloads the packages (a metapackage stands for the first one it depends on), unpacks them all into `into`, and returns their files. */
export function unpackPackages({ names, architecture, suite, workDir, into, withDependencies }: PackagesInput): string[] {
  const apt = privateApt(workDir, architecture, suite);
  update(apt);
  if (withDependencies) {
    apt('install', ['--download-only', '--yes', '--no-install-recommends', ...names]);
    return unpackAll(join(workDir, 'apt/cache/archives'), into);
  }
  const debs = join(workDir, 'debs');
  mkdirSync(debs, { recursive: true });
  apt(
    'download',
    names.map((name) => resolveMetapackage(name, apt)),
    debs,
  );
  return unpackAll(debs, into);
}

function unpackAll(folder: string, into: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  const paths = names.sort().map((name) => join(folder, name));
  for (const path of paths) execFileSync('dpkg-deb', ['-x', path, into]);
  return paths;
}

type Apt = (verb: string, args?: readonly string[], cwd?: string) => string;

/** A mirror in the middle of a change fails for one of its lists; whether the packages can be had all the same shows in the download. */
function update(apt: Apt): void {
  try {
    apt('update');
  } catch (error) {
    if (!/Some index files failed to download/.test(String((error as UserError).why))) throw error; // what apt throws
  }
}

function privateApt(workDir: string, architecture: string | undefined, suite: string | undefined): Apt {
  const state = join(workDir, 'apt');
  for (const folder of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(state, folder), { recursive: true });
  writeFileSync(join(state, 'status'), '');
  const options = [
    `Dir::State::Lists=${state}/lists`,
    `Dir::Cache=${state}/cache`,
    `Dir::State::status=${state}/status`, // nothing is installed
    'Debug::NoLocking=true',
    'APT::Sandbox::User=',
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false',
    ...(architecture ? [`APT::Architectures::=${architecture}`] : []),
    ...(suite ? sourcesOf(suite, state) : []),
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

/** Options that make apt see one suite alone, and nothing as installed. */
function sourcesOf(suite: string, state: string): readonly string[] {
  const list = join(state, 'sources.list');
  writeFileSync(list, `deb [signed-by=${DEBIAN_KEYS}] ${debianMirror()} ${suite} main\n`);
  return [`Dir::Etc::SourceList=${list}`, 'Dir::Etc::SourceParts=/dev/null', 'Dir::State::status=/dev/null'];
}

/** The mirror that the machine has its own Debian from. */
function debianMirror(): string {
  const own = ownTargets().find(([release, component, uri]) => component === 'main' && DEBIAN_SUITE.test(release ?? '') && uri);
  return own?.[2] ?? DEBIAN_MIRROR;
}

/** Lines for apt: a suite with its updates, from where the machine has them. */
export function debianSources(suite: string): readonly string[] {
  const releases = [suite, `${suite}-updates`, `${suite}-security`];
  const own = ownTargets().filter(([release = '', component]) => component === 'main' && releases.includes(release));
  const lines = own.map(([release, component, uri]) => `deb ${uri} ${release} ${component}`);
  return lines.some((line) => line.endsWith(` ${suite} main`)) ? [...new Set(lines)] : [`deb ${debianMirror()} ${suite} main`];
}

/** What apt of this machine knows of: release, component, address. */
function ownTargets(): readonly string[][] {
  const format = '$(RELEASE) $(COMPONENT) $(REPO_URI)';
  const targets = execFileSync('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'], { encoding: 'utf8' });
  return targets.split('\n').map((line) => line.split(' '));
}

function resolveMetapackage(name: string, apt: Apt): string {
  if (!name.startsWith('linux-image-')) return name;
  const depends = /Depends: (linux-image-\S+)/.exec(apt('depends', [name]));
  return depends?.[1] ?? name;
}

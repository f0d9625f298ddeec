/**
 * Makes sure that the two kubectls of the tests are there, and prints where: Debian 12's (1.20) and a current one, which is the
 * machine's own if it is 1.29 or newer, otherwise Debian 13's (1.32). Both come from packages, unpacked and not installed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { unpackPackages } from '../guest-image/packages.ts';

type PackagedKubectl = { readonly file: string; readonly names: readonly string[]; readonly suite: string };

const OLD: PackagedKubectl = { file: 'debian', names: ['kubernetes-client'], suite: 'bookworm' };
const CURRENT: PackagedKubectl = { file: 'debian-13', names: ['kubectl'], suite: 'trixie' };

/** Paths of both programs. The old one never stands in for the current one: it lacks what the tests use. */
export function ensureKubectls(): { readonly debian: string; readonly current: string } {
  const folder = join(cacheFolder(), 'kubectl');
  mkdirSync(folder, { recursive: true });
  return { debian: packagedKubectl(folder, OLD), current: installedKubectl() ?? packagedKubectl(folder, CURRENT) };
}

/** The program of a Debian package, unpacked once and never installed. */
function packagedKubectl(folder: string, { file, ...source }: PackagedKubectl): string {
  const path = join(folder, file);
  if (existsSync(path)) return path;
  const workDir = mkdtempSync(join(folder, 'unpacking-'));
  try {
    unpackPackages({ ...source, workDir, into: join(workDir, 'files') });
    renameSync(join(workDir, 'files/usr/bin/kubectl'), path);
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return path;
}

function installedKubectl(): string | undefined {
  try {
    const { clientVersion } = JSON.parse(
      execFileSync('kubectl', ['version', '--client', '-o', 'json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    return Number.parseInt(clientVersion.minor, 10) >= 29 ? 'kubectl' : undefined;
  } catch {
    return undefined;
  }
}

if (import.meta.main) console.log(JSON.stringify(ensureKubectls()));

/**
 * Makes sure that the two kubectls of the tests are there, and prints where: Debian's (1.20, from its package, unpacked and not
 * installed) and a current one (the machine's own if it is 1.29 or newer, otherwise built from the Go modules pinned here).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { unpackPackages } from '../guest-image/packages.ts';

const here = import.meta.dirname;
const VERSION = 'v1.34.4';

/** Paths of both programs. The old one never stands in for the current one: it lacks what the tests use. */
export function ensureKubectls(): { readonly debian: string; readonly current: string } {
  const folder = join(cacheFolder(), 'kubectl');
  mkdirSync(folder, { recursive: true });
  const current = installedKubectl() ?? builtKubectl(folder);
  if (current) return { debian: debianKubectl(folder), current };
  throw new UserError('KUBECTL_MISSING', 'the tests need a kubectl of version 1.29 or newer', {
    why: 'there is none on PATH, and no Go to build one with',
    fix: 'install kubectl, or Go 1.24 or newer, and run the tests again',
    exitCode: 7,
  });
}

function debianKubectl(folder: string): string {
  const path = join(folder, 'debian');
  if (existsSync(path)) return path;
  const workDir = mkdtempSync(join(folder, 'debian-'));
  try {
    unpackPackages({ names: ['kubernetes-client'], workDir, into: join(workDir, 'files') });
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

function builtKubectl(folder: string): string | undefined {
  const key = createHash('sha256')
    .update(readFileSync(join(here, 'go.sum')))
    .update(readFileSync(join(here, 'main.go')))
    .digest('hex');
  const path = join(folder, `current-${key.slice(0, 16)}`);
  if (existsSync(path)) return path;
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  console.error(`  . kubectl    building ${VERSION} (about two minutes, once)`);
  const variables = { gitVersion: VERSION, gitMajor: '1', gitMinor: '34' };
  const flags = Object.entries(variables).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  const unfinished = `${path}.${process.pid}`;
  execFileSync('go', ['build', '-ldflags', `-s -w ${flags.join(' ')}`, '-o', unfinished, '.'], {
    cwd: here,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  renameSync(unfinished, path);
  return path;
}

if (import.meta.main) console.log(JSON.stringify(ensureKubectls()));

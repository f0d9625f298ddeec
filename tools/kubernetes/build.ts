/**
 * Builds a real Kubernetes (API server, controllers, scheduler, kubelet, proxy, kubectl) and etcd from the Go modules pinned in program/,
 * once per version, into the cache folder. Prints the folder with one name per program. About five minutes and 6 CPU minutes.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';

const VERSION = 'v1.34.4';
const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl'];
const source = join(import.meta.dirname, 'program');

/** The folder with the programs; a UserError when they are not there and cannot be built. */
export function ensureKubernetes(): string {
  const folder = join(cacheFolder(), 'kubernetes', `${VERSION}-${hashOfSources().slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  requireGo();
  mkdirSync(join(cacheFolder(), 'kubernetes'), { recursive: true });
  const unfinished = mkdtempSync(join(cacheFolder(), 'kubernetes', 'build-'));
  try {
    console.error(`  . kubernetes building ${VERSION} (about five minutes, once)`);
    build(join(unfinished, 'kubernetes'));
    for (const program of PROGRAMS) symlinkSync('kubernetes', join(unfinished, program));
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

function requireGo(): void {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch (error) {
    throw new UserError('GO_MISSING', 'a real Kubernetes is built with Go, which is not installed', {
      fix: 'install Go 1.24 or newer',
      exitCode: 7,
      cause: error,
    });
  }
}

/** The module proxy answers "too many requests" now and then; what was fetched stays, so the next try goes further. */
function build(output: string): void {
  const set = (name: string, value: string) => `-X ${name}=${value}`;
  const flags = [
    '-s -w',
    set('k8s.io/component-base/version.gitVersion', VERSION),
    set('k8s.io/component-base/version.gitMajor', '1'),
    set('k8s.io/component-base/version.gitMinor', '34'),
    set('k8s.io/client-go/pkg/version.gitVersion', VERSION),
  ].join(' ');
  for (let attempt = 1; ; attempt++) {
    try {
      execFileSync('go', ['build', '-ldflags', flags, '-o', output, '.'], {
        cwd: source,
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, CGO_ENABLED: '0' },
      });
      return;
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(source, file)));
  return hash.digest('hex');
}

if (import.meta.main) console.log(ensureKubernetes());

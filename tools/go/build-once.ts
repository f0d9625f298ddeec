/** Builds a program of published Go modules once per set of sources, into the cache folder. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';

export type GoProgram = {
  /** Also the folder in the cache. */
  readonly name: string;
  readonly version: string;
  /** The folder of go.mod and go.sum; every file in it counts. */
  readonly source: string;
  /** What is built: `.` or the path of a package. */
  readonly package: string;
  /** Values of variables that are set by the linker. */
  readonly variables: Readonly<Record<string, string>>;
  /** Said before the build starts. */
  readonly takes: string;
};

const ATTEMPTS = 5;
const FIRST_WAIT_MS = 5_000;

/** The folder that holds the program under its name, or undefined while it is not built. */
export function findGoProgram(program: GoProgram): string | undefined {
  const folder = folderOf(program);
  return existsSync(folder) ? folder : undefined;
}

/** The folder that holds the program under its name; a UserError when it is not there and cannot be built. */
export function buildOnce(program: GoProgram, finish: (folder: string) => void = () => {}): string {
  const found = findGoProgram(program);
  if (found) return found;
  const { name, version, takes } = program;
  requireGo(name);
  const parent = join(cacheFolder(), name);
  mkdirSync(parent, { recursive: true });
  const unfinished = mkdtempSync(join(parent, 'build-'));
  try {
    console.error(`  . ${name} building ${version} (${takes}, once)`);
    build(program, join(unfinished, name));
    finish(unfinished);
    return renameIntoCache(unfinished, folderOf(program));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Two may build at the same time; the program of the first is as good. */
function renameIntoCache(unfinished: string, folder: string): string {
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function folderOf({ name, version, source }: GoProgram): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(source).filter(isSource).sort()) hash.update(readFileSync(join(source, file)));
  return join(cacheFolder(), name, `${version}-${hash.digest('hex').slice(0, 16)}`);
}

function isSource(file: string): boolean {
  return /^go\.(mod|sum)$|\.go$/.test(file);
}

function requireGo(name: string): void {
  if (hasGo()) return;
  throw new UserError('GO_MISSING', `${name} is built with Go, which is not installed`, { fix: 'install Go 1.24 or newer', exitCode: 7 });
}

export function hasGo(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The module proxy answers "too many requests" now and then; what was fetched stays, so the next try goes further. */
function build({ source, package: what, variables }: GoProgram, output: string): void {
  const flags = ['-s -w', ...Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`)].join(' ');
  for (let attempt = 1; ; attempt++) {
    try {
      execFileSync('go', ['build', '-mod=readonly', '-ldflags', flags, '-o', output, what], {
        cwd: source,
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, CGO_ENABLED: '0' },
      });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      pause(FIRST_WAIT_MS * 2 ** (attempt - 1));
    }
  }
}

/** Nothing else happens in this process while a compiler runs, and nothing has to between two. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

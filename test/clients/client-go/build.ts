/** Builds the client-go program of the tests from the Go modules pinned here, once, into the cache folder. */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../src/base/node/folders.ts';

const here = import.meta.dirname;

/** Why it cannot be built on this machine; false when it can, or when it has been. */
export function whyNoClientGo(): string | false {
  if (existsSync(target())) return false;
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'a client-go program is built with Go, which is not installed';
  }
}

/** The path of the program. */
export async function ensureClientGo(): Promise<string> {
  const path = target();
  if (existsSync(path)) return path;
  mkdirSync(join(cacheFolder(), 'client-go'), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  const env = { ...process.env, CGO_ENABLED: '0' };
  await promisify(execFile)('go', ['build', '-ldflags', '-s -w', '-o', unfinished, '.'], { cwd: here, env });
  renameSync(unfinished, path);
  return path;
}

function target(): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(here, file)));
  return join(cacheFolder(), 'client-go', hash.digest('hex').slice(0, 16));
}

/** The Node that a release brings along: that of tools/node, whose lock file has its digest, for either kind of processor. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cacheFolder } from '../../src/base/node/folders.ts';

/** As Node calls them. */
export type Architecture = 'x64' | 'arm64';

const LOCKED = resolve(import.meta.dirname, '../node');

/** The path of the program; fetched through npm once. */
export function nodeFor(architecture: Architecture): string {
  const name = `node-linux-${architecture}`;
  const version: string = JSON.parse(readFileSync(join(LOCKED, 'package.json'), 'utf8')).optionalDependencies[name];
  const folder = join(cacheFolder(), 'node');
  const path = join(folder, `${name}-${version}`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'kubevirt-ts-node-'));
  try {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(LOCKED, file), join(work, file));
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--os=linux', `--cpu=${architecture}`];
    execFileSync('npm', args, { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] });
    copyFileSync(join(work, 'node_modules', name, 'bin/node'), `${path}.new`);
    renameSync(`${path}.new`, path);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return path;
}

/**
 * A Debian 12 that nobody has used: what debootstrap makes of it, npm, and what the first line of docs/install.md installs by apt. Kept in the cache by
 * that line; package updates do not change it: remove the folder to take them up.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { mmdebstrap } from '../guest-image/mmdebstrap.ts';
import { unpackPackages } from '../guest-image/packages.ts';

const PAGE = resolve(import.meta.dirname, '../../docs/install.md');

/** The folder of the system; made when it is not there yet, which takes a minute or two and root. */
export function ensureFreshDebian(): string {
  const packages = ['npm', ...packagesOfPage(readFileSync(PAGE, 'utf8'))];
  const folder = join(cacheFolder(), 'debian-root');
  const root = join(folder, createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 16));
  if (existsSync(root)) return root;
  mkdirSync(folder, { recursive: true });
  const workDir = mkdtempSync(join(folder, 'build-'));
  try {
    const packagesDir = join(workDir, 'packages');
    unpackPackages({ names: ['mmdebstrap'], workDir, into: packagesDir });
    const made = join(workDir, 'root');
    mmdebstrap({ packagesDir, workDir, packages, options: ['--variant=minbase', '--format=directory'], to: made });
    renameSync(made, root);
  } catch (error) {
    if (!existsSync(root)) throw error; // somebody else was quicker
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return root;
}

/** What people are told to install: the test fails when that is not enough. */
export function packagesOfPage(page: string): readonly string[] {
  const [, names] = /^ {4}sudo apt-get install -y --no-install-recommends (.+)$/m.exec(page) ?? [];
  if (names === undefined) throw new Error('docs/install.md does not say which packages to install');
  return names.trim().split(/\s+/);
}

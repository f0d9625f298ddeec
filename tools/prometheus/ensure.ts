/**
 * Makes sure that Prometheus and its promtool are there for tests, and prints where: the machine's own, or those of the Debian package (19 MB), unpacked
 * and not installed: an installed one would start to serve.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../src/base/node/find-program.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { unpackPackages } from '../guest-image/packages.ts';

export type Prometheus = { readonly prometheus: string; readonly promtool: string };

/** Where they are; undefined when they are not. */
export function findPrometheus(): Prometheus | undefined {
  const path = `${process.env['PATH'] ?? ''}:${join(cacheFolder(), 'prometheus')}`;
  const [prometheus, promtool] = ['prometheus', 'promtool'].map((name) => findProgram(name, path));
  return prometheus && promtool ? { prometheus, promtool } : undefined;
}

function ensurePrometheus(): Prometheus {
  const found = findPrometheus();
  if (found) return found;
  const folder = join(cacheFolder(), 'prometheus');
  mkdirSync(folder, { recursive: true });
  const workDir = mkdtempSync(join(folder, 'unpacking-'));
  try {
    const files = join(workDir, 'files');
    unpackPackages({ names: ['prometheus'], workDir, into: files });
    for (const name of ['promtool', 'prometheus'])
      if (!existsSync(join(folder, name))) renameSync(join(files, 'usr/bin', name), join(folder, name));
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool') };
}

if (import.meta.main) {
  const { prometheus, promtool } = ensurePrometheus();
  process.stdout.write(`${prometheus}\n${promtool}\n`);
}

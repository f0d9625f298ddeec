/**
 * Makes one file of virt-launcher for a clone: `node tools/launcher/build.ts [FOLDER]`, .tools/launcher unless one is named. It is started for
 * every guest, and reading a hundred sources is most of what it does. The file counts for as long as none of them has changed
 * (src/cmd/embedded/built-launcher.ts); then the sources themselves run, as ever.
 */
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { LAUNCHER_FILE, LAUNCHER_SOURCES } from '../../src/cmd/embedded/built-launcher.ts';
import { bundleLauncher } from '../release/bundle.ts';

const project = resolve(import.meta.dirname, '../..');

/** Whole or not at all: whoever reads the folder sees the old file or the new one. */
export async function buildLauncher(folder = join(project, '.tools/launcher')): Promise<void> {
  const begun = new Date(); // a source that changes from now on is newer than the file
  const fresh = `${folder}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const sources = await bundleLauncher(fresh);
  writeFileSync(join(fresh, LAUNCHER_SOURCES), JSON.stringify(sources.map((path) => relative(folder, join(project, path)))));
  utimesSync(join(fresh, LAUNCHER_FILE), begun, begun);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

if (import.meta.main) await buildLauncher(...(process.argv[2] ? [resolve(process.argv[2])] : []));

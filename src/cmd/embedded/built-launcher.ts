/**
 * The launcher of a clone as one file, as packages have it. Somebody makes it (tools/launcher/build.ts), nobody has to; it is used while it is
 * what the sources say, which is asked once, when the cluster starts: so the cluster and its launchers are of the same sources.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const LAUNCHER_FILE = 'virt-launcher.mjs';
/** Names of the sources that are in it, from its folder. */
export const LAUNCHER_SOURCES = 'sources.json';

/** Its path; undefined where there is none, or where a source has changed or gone since. */
export function builtLauncher(folder: string): string | undefined {
  const file = join(folder, LAUNCHER_FILE);
  try {
    const { mtimeMs } = statSync(file);
    const sources = JSON.parse(readFileSync(join(folder, LAUNCHER_SOURCES), 'utf8')) as string[]; // beside it, by the same tool
    return sources.every((source) => statSync(join(folder, source)).mtimeMs < mtimeMs) ? file : undefined;
  } catch {
    return undefined; // the sources run as well
  }
}

/** Puts the guests that tools/guest-image built into the embedded cluster's image store. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';
import { openImageStore } from '../../images/store.ts';
import type { Places } from '../context.ts';

/** The one that script/bootstrap builds; the others are there when somebody has asked for them. */
const DEMO = 'tiny';

/** Imports the newest build of every guest in the cache; returns a line about what was done. */
export async function importGuestImages(context: Pick<Places, 'home' | 'cache'>): Promise<string> {
  const store = openImageStore(join(context.home, 'images'));
  const layouts = newestLayouts(join(context.cache, 'guests'));
  if (!layouts.has(DEMO) && !store.resolve(referenceTo(DEMO))) {
    throw new UserError('GUEST_IMAGE_MISSING', `the demo guest image is not in ${context.cache}`, {
      why: 'it is built once per machine, from Debian packages',
      fix: 'script/bootstrap',
      exitCode: 3,
    });
  }
  const lines: string[] = [];
  for (const name of new Set([DEMO, ...layouts.keys()])) {
    const reference = referenceTo(name);
    const before = store.resolve(reference)?.digest;
    const layout = layouts.get(name);
    if (layout) await store.importLayout(layout, reference);
    lines.push(`${reference}, ${store.resolve(reference)?.digest === before ? 'was there' : 'imported'}`);
  }
  return lines.join('; ');
}

function referenceTo(name: string): string {
  return `localhost/guests/${name}:latest`;
}

/** The cache has a folder NAME-HASH for each build. */
function newestLayouts(guests: string): Map<string, string> {
  if (!existsSync(guests)) return new Map();
  const builds = readdirSync(guests).flatMap((folder) => {
    const [, name] = /^([a-z0-9]+)-[0-9a-f]{16}$/.exec(folder) ?? [];
    const path = join(guests, folder);
    return name ? [{ name, path, builtMs: statSync(path).mtimeMs }] : [];
  });
  return new Map(builds.sort((a, b) => a.builtMs - b.builtMs).map(({ name, path }) => [name, path]));
}

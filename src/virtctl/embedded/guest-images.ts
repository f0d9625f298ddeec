/** Puts the guests that tools/guest-image built, here or for a release, into the embedded cluster's image store. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { STAND_IN, STOOD_IN_FOR } from '../../api/kubevirt/stand-ins.ts';
import { UserError } from '../../base/errors.ts';
import { openImageStore } from '../../images/store.ts';
import type { Places } from '../context.ts';

/** The one that script/bootstrap builds; the others are there when somebody has asked for them. */
const DEMO = 'tiny';

/** Imports those that came with the product and the newest build of every other guest in the cache; returns a line about what was done. */
export async function importGuestImages(
  context: Pick<Places, 'home' | 'cache' | 'guests'>,
  onImport: (reference: string) => void = () => {},
): Promise<string> {
  const store = openImageStore(join(context.home, 'images'));
  const layouts = new Map([...newestLayouts(join(context.cache, 'guests')), ...newestLayouts(context.guests)]);
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
    if (layout) onImport(reference);
    if (layout) await store.importLayout(layout, reference);
    lines.push(`${reference}, ${store.resolve(reference)?.digest === before ? 'was there' : 'imported'}`);
  }
  const isThere = store.resolve(STAND_IN) !== undefined;
  const stoodIn = STOOD_IN_FOR.filter((name) => !store.resolve(name)).map((name) => name.replace(/:latest$/, ''));
  if (isThere && stoodIn.length > 0) lines.push(`${STAND_IN} stands in for ${stoodIn.join(' and ')} where they cannot be pulled`);
  return lines.join('; ');
}

function referenceTo(name: string): string {
  return `localhost/guests/${name}:latest`;
}

/** There is a folder NAME-HASH for each build. */
function newestLayouts(guests: string | undefined): Map<string, string> {
  if (guests === undefined || !existsSync(guests)) return new Map();
  const builds = readdirSync(guests).flatMap((folder) => {
    const [, name] = /^([a-z0-9]+)-[0-9a-f]{16}$/.exec(folder) ?? [];
    const path = join(guests, folder);
    return name ? [{ name, path, builtMs: statSync(path).mtimeMs }] : [];
  });
  return new Map(builds.sort((a, b) => a.builtMs - b.builtMs).map(({ name, path }) => [name, path]));
}

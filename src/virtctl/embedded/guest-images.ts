/** Puts the demo guest that script/bootstrap built into the embedded cluster's image store. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';
import { openImageStore } from '../../images/store.ts';
import type { Context } from '../context.ts';

const REFERENCE = 'localhost/guests/tiny:latest';

/** Returns a line about what was done. */
export async function importGuestImages(context: Context): Promise<string> {
  const store = openImageStore(join(context.home, 'images'));
  const before = store.resolve(REFERENCE)?.digest;
  const layout = newestLayout(join(context.cache, 'guests'));
  if (!layout) {
    if (before) return `${REFERENCE}, was there`;
    throw new UserError('GUEST_IMAGE_MISSING', `the demo guest image is not in ${context.cache}`, {
      why: 'it is built once per machine, from Debian packages',
      fix: 'script/bootstrap',
      exitCode: 3,
    });
  }
  await store.importLayout(layout, REFERENCE);
  return `${REFERENCE}, ${store.resolve(REFERENCE)?.digest === before ? 'was there' : 'imported'}`;
}

function newestLayout(guests: string): string | undefined {
  if (!existsSync(guests)) return undefined;
  const layouts = readdirSync(guests).filter((name) => /^tiny-[0-9a-f]+$/.test(name));
  const ages = layouts.map((name) => ({ path: join(guests, name), builtMs: statSync(join(guests, name)).mtimeMs }));
  return ages.sort((a, b) => b.builtMs - a.builtMs)[0]?.path;
}

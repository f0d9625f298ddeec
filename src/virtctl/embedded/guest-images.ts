/** Puts the demo guest that script/bootstrap built into the embedded cluster's image store. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';
import { openImageStore } from '../../images/store.ts';
import type { Context } from '../context.ts';

const REFERENCE = 'localhost/guests/tiny:latest';

/** Returns a line about what was done. */
export async function importGuestImages(context: Context): Promise<string> {
  const store = await openImageStore(join(context.home, 'images'));
  if (await store.resolve(REFERENCE)) return `${REFERENCE}, was there`;
  const layout = newestLayout(join(context.cache, 'guests'));
  if (!layout) {
    throw new UserError('GUEST_IMAGE_MISSING', `the demo guest image is not in ${context.cache}`, {
      why: 'it is built once per machine, from Debian packages',
      fix: 'script/bootstrap',
      exitCode: 3,
    });
  }
  await store.importLayout(layout, REFERENCE);
  return `${REFERENCE}, imported`;
}

function newestLayout(guests: string): string | undefined {
  if (!existsSync(guests)) return undefined;
  const found = readdirSync(guests)
    .filter((name) => /^tiny-[0-9a-f]+$/.test(name))
    .sort();
  return found.length === 0 ? undefined : join(guests, found.at(-1) ?? '');
}

/** Names of the embedded cluster's images, for a shell that completes a command line. */
import { join } from 'node:path';
import { readCatalogue } from '../../images/catalogue/catalogue.ts';
import { NAME_ANNOTATION, readIndex } from '../../images/layout.ts';
import type { Context } from '../context.ts';

/** Those that begin like this; none, and no complaint, where there is no store or it cannot be read. */
export function imageNames({ home }: Context, partial: string): readonly string[] {
  try {
    const names = readIndex(join(home, 'images')).map(({ annotations }) => annotations?.[NAME_ANNOTATION] ?? '');
    return names.filter((name) => name !== '' && name.startsWith(partial)).sort();
  } catch {
    return [];
  }
}

/** The same, with the short names of the catalogue. */
export function runnableNames(context: Context, partial: string): readonly string[] {
  try {
    const short = readCatalogue(context.home)
      .search()
      .map(({ name }) => name);
    return [...short.filter((name) => name.startsWith(partial)), ...imageNames(context, partial)];
  } catch {
    return imageNames(context, partial);
  }
}

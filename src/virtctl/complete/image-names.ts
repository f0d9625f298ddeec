/** Names of the embedded cluster's images, for a shell that completes a command line. */
import { join } from 'node:path';
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

/** Where the images of the embedded cluster are. */
import { join } from 'node:path';
import type { Places } from '../../context.ts';

export function storeFolder({ home }: Pick<Places, 'home'>): string {
  return join(home, 'images');
}

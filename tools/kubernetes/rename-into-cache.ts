/** Two commands may make the same thing for the cache at once: the first to finish wins, and both go on with its result. */
import { existsSync, renameSync } from 'node:fs';

export function renameIntoCache(finished: string, place: string): void {
  try {
    renameSync(finished, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
  }
}

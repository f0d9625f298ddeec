/** Ends a cluster and everything it has on the machine. Works from the folder's name alone, so it also clears up after a crash of anything. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { numbersOf, removeCgroups, removeLinks } from './host.ts';
import { detachHeldBy, detachVolumes } from './loops.ts';
import { findAllParts, killProcesses } from './processes.ts';

/** Resolves when nothing is left; does nothing when nothing was there. */
export async function takeDown(folder: string): Promise<void> {
  // Until none is found: one that was just being started would be missed the first time.
  for (let processes = findAllParts(folder); processes.length > 0; processes = findAllParts(folder)) await killProcesses(processes);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) detachHeldBy(join(folder, name));
  detachVolumes(folder);
  for (const number of numbersOf(folder)) {
    await removeCgroups(`kubets${number}`);
    removeLinks(number); // last: the bridge is how we know the number
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

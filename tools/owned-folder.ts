/** A folder whose contents, processes included, nobody needs once the process that made it has ended. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isSameProcess, type ProcessIdentity } from '../src/base/node/process-identity.ts';

/** From now on it belongs to this process, such as a test. */
export function setOwner(folder: string): void {
  writeFileSync(join(folder, 'owner.json'), JSON.stringify(identify(process.pid)));
}

/** It belonged to a process that was killed before it could clear up. */
export function hasLostItsOwner(folder: string): boolean {
  const file = join(folder, 'owner.json');
  return existsSync(file) && !isSameProcess(JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity); // we wrote it
}

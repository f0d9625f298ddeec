/** Where clusters are, and whose they are. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { identify, isSameProcess, type ProcessIdentity } from '../../src/base/node/process-identity.ts';
import { bridges } from './host.ts';

/** Everything of a cluster is in here. */
export function clusterFolder(name: string): string {
  return join(parent(), name);
}

/** Of every cluster of this cache folder, whether a bridge is left of it or only files. */
export function clusterFolders(): string[] {
  const withFiles = existsSync(parent()) ? readdirSync(parent()).map(clusterFolder) : [];
  const withBridge = bridges().map(({ folder }) => folder);
  return [...new Set([...withFiles, ...withBridge.filter((folder) => dirname(folder) === parent())])];
}

/** From now on the cluster belongs to this process, such as a test, and nobody needs it after. */
export function setOwner(folder: string): void {
  writeFileSync(join(folder, 'owner.json'), JSON.stringify(identify(process.pid)));
}

/** It belonged to a process that was killed before it could take it down. */
export function hasLostItsOwner(folder: string): boolean {
  const file = join(folder, 'owner.json');
  return existsSync(file) && !isSameProcess(JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity); // we wrote it
}

function parent(): string {
  return join(cacheFolder(), 'kubernetes', 'clusters');
}

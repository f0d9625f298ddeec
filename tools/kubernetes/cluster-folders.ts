/** Where clusters are. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../src/base/node/folders.ts';
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

function parent(): string {
  return join(cacheFolder(), 'kubernetes', 'clusters');
}

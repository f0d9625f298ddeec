/** Which images the Pods of a node use, by what is linked in their folders: that outlives every process. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BUNDLE_FOLDER } from '../../base/node/pod-sandbox.ts';
import { containerDir, listContainers, listPodUids, podDir, volumeDir } from './pod-folder.ts';

/** Where the roots of images are, in the folder of a kubelet. */
export const ROOTS_FOLDER = 'roots';

/** Their digests. */
export function imagesInUse(rootDirs: readonly string[]): Set<string> {
  const digests = new Set<string>();
  for (const rootDir of rootDirs) {
    for (const dir of listPodUids(rootDir).map((uid) => podDir(rootDir, uid))) {
      const volumes = dirname(volumeDir(dir, 'image', 'x'));
      const links = [
        ...(existsSync(volumes) ? readdirSync(volumes).map((name) => join(volumes, name)) : []),
        ...listContainers(dir).map((name) => join(containerDir(dir, name), BUNDLE_FOLDER, 'lower')),
      ];
      for (const link of links) {
        const digest = /^sha256-[0-9a-f]{64}$/.exec(basename(targetOf(link)))?.[0];
        if (digest) digests.add(digest.replace('-', ':'));
      }
    }
  }
  return digests;
}

/** Removes the unpacked roots of images that have left the store. */
export async function removeRoots(rootDirs: readonly string[], digests: readonly string[]): Promise<void> {
  for (const rootDir of rootDirs) {
    for (const digest of digests) {
      const path = join(rootDir, ROOTS_FOLDER, digest.replace(':', '-'));
      if (!existsSync(path)) continue;
      const doomed = join(rootDir, ROOTS_FOLDER, `.tmp-0-0-${basename(path)}`); // whole or not at all: nobody finds a part of it
      await rm(doomed, { recursive: true, force: true });
      await rename(path, doomed);
      await rm(doomed, { recursive: true, force: true });
    }
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return ''; // gone meanwhile
  }
}

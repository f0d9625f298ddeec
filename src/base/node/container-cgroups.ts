/**
 * The cgroups of native containers, which hold each to the limits of its spec where this machine lets us make cgroups:
 *
 *   kubevirt-ts-NODE/UID.CONTAINER.RUN    NODE tells the folder of a kubelet from others of this machine
 *
 * They are known by their names alone, so whoever ends containers without a kubelet finds them, too.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import { type CgroupLimits, type Cgroups, findCgroups, foldersOf, makeCgroup, ranOutOfMemory, removeCgroups } from './cgroups.ts';

/** A container by the folder of its Pod. */
export type OfContainer = { readonly podDir: string; readonly container: string };

const REMOVE_TRIES = 50;
const REMOVE_PAUSE_MS = 20;

/** The folders of the cgroup of one run, made with its limits. */
export function makeContainerCgroup(cgroups: Cgroups, of: OfContainer & { readonly run: number }, limits: CgroupLimits): string[] {
  const folders = foldersOf(cgroups, [nodeName(of.podDir), `${prefixOf(of)}${of.run}`]);
  makeCgroup(cgroups, folders, limits);
  return folders;
}

/** Those of its last run; none where nobody made any. */
export function containerCgroup(cgroups: Cgroups, of: OfContainer): string[] {
  return foldersOf(cgroups, [nodeName(of.podDir)]).flatMap((node) => {
    const runs = runsIn(node, of);
    return runs.length > 0 ? [join(node, `${prefixOf(of)}${Math.max(...runs)}`)] : [];
  });
}

/** True when its last run used up the memory that it may have. */
export function wasOutOfMemory(cgroups: Cgroups, of: OfContainer): boolean {
  return ranOutOfMemory(containerCgroup(cgroups, of));
}

/** Removes those of all its runs as soon as the kernel has forgotten what was in them; one that somebody does not leave stays. */
export async function removeContainerCgroups(cgroups: Cgroups, of: OfContainer, clock: Clock): Promise<void> {
  const nodes = foldersOf(cgroups, [nodeName(of.podDir)]);
  const folders = nodes.flatMap((node) => runsIn(node, of).map((run) => join(node, `${prefixOf(of)}${run}`)));
  for (let tries = 0; tries < REMOVE_TRIES && !removeCgroups(folders); tries += 1) await clock.sleep(REMOVE_PAUSE_MS);
  for (const node of nodes) removeIfEmpty(node);
}

/** After the containers of a data folder were ended: removes what nobody is in. */
export async function removeCgroupsOf(home: string, clock: Clock): Promise<void> {
  const cgroups = findCgroups();
  if ('why' in cgroups || !existsSync(home)) return;
  const root = realpathSync(home);
  const kubelets = readdirSync(root).filter((name) => name.startsWith('kubelet'));
  const folders = kubelets.flatMap((name) => foldersOf(cgroups, [nodeName(join(root, name, 'pods', 'any'))]));
  for (let tries = 0; tries < REMOVE_TRIES && !removeCgroups(folders); tries += 1) await clock.sleep(REMOVE_PAUSE_MS);
}

function runsIn(node: string, of: OfContainer): number[] {
  const prefix = prefixOf(of);
  return namesIn(node)
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)));
}

/** Neither a uid nor the name of a container has a dot. */
function prefixOf({ podDir, container }: OfContainer): string {
  return `${basename(podDir)}.${container}.`;
}

/** By the folder of the kubelet, two above that of a Pod. */
function nodeName(podDir: string): string {
  return `kubevirt-ts-${createHash('sha256')
    .update(dirname(dirname(podDir)))
    .digest('hex')
    .slice(0, 12)}`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no container was started yet
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // it has others, or is gone
  }
}

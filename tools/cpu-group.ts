/**
 * A group of processes whose time on the processors the kernel counts, also that of programs which have ended: one per file of tests. Only where
 * cgroups of version 1 are mounted and ours to make: with version 2 a group of its own would take from the product what it may limit.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const COUNTED_AT = '/sys/fs/cgroup/cpuacct';

const folderOf = (runner: number, root: string) => join(root, `kubevirt-ts-tests-${runner}`);

/** For the files that a runner starts. */
export function openGroups(runner: number, root = COUNTED_AT): void {
  try {
    mkdirSync(folderOf(runner, root));
  } catch {} // not here, or not for us: nothing is counted
}

/** This process, and whatever it starts. Where its parent has opened no groups, nothing happens. */
export function enterGroup(file: string, runner = process.ppid, root = COUNTED_AT): void {
  const group = join(folderOf(runner, root), encodeURIComponent(file));
  try {
    mkdirSync(group);
    writeFileSync(join(group, 'cgroup.procs'), String(process.pid));
  } catch {} // as above
}

/** Seconds by file. Takes the groups away; one in which something still runs stays. */
export function closeGroups(runner: number, root = COUNTED_AT): Map<string, number> {
  const folder = folderOf(runner, root);
  const seconds = new Map<string, number>();
  for (const name of groupsIn(folder)) {
    seconds.set(decodeURIComponent(name), Number(readFileSync(join(folder, name, 'cpuacct.usage'), 'utf8')) / 1e9);
    removeEmpty(join(folder, name));
  }
  removeEmpty(folder);
  return seconds;
}

function groupsIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return []; // none were opened
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {} // it is in use, or was never there
}

/**
 * Where cgroups can be made that hold processes to limits: of version 1, where each controller has a tree of its own, and of version 2, where
 * one has all of them. Root makes them at the top of what it sees, an ordinary user in the nearest cgroup above that was delegated to him.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const CONTROLLERS = ['cpu', 'memory', 'pids'] as const;
export type Controller = (typeof CONTROLLERS)[number];
/** The folder that cgroups are made in, for each controller that there is. */
export type Cgroups = { readonly version: 1 | 2; readonly parents: Readonly<Partial<Record<Controller, string>>> };
export type CgroupLimits = { readonly pids: number; readonly memoryBytes?: number | undefined; readonly cores?: number | undefined };

type Mount = { readonly type: string; readonly path: string; readonly options: readonly string[] };
type Machine = { readonly mounts?: string; readonly own?: string; readonly isRoot?: boolean };

const CPU_PERIOD_US = 100_000;
/** Joins the cgroups whose folders come before `--`, then becomes what comes after it; 0 is whoever writes it. */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"';

/** What this machine offers us, or why it offers nothing. */
export function findCgroups(machine: Machine = {}): Cgroups | { readonly why: string } {
  const { mounts = readText('/proc/self/mounts') ?? '', own = readText('/proc/self/cgroup') ?? '' } = machine;
  const { isRoot = process.getuid?.() === 0 } = machine;
  const all = mounts.split('\n').map(mountIn);
  const first = CONTROLLERS.map((name) => all.find(({ type, options }) => type === 'cgroup' && options.includes(name)));
  if (first.some((mount) => mount !== undefined)) {
    const usable = CONTROLLERS.flatMap((name, index) => (first[index] && isWritable(first[index].path) ? [[name, first[index].path]] : []));
    if (usable.length === 0) return { why: 'cgroups of version 1 are those of root' };
    return { version: 1, parents: Object.fromEntries(usable) };
  }
  const top = all.find(({ type }) => type === 'cgroup2')?.path;
  if (top === undefined) return { why: 'no cgroups are mounted' };
  const path = /^0::(.*)$/m.exec(own)?.[1] ?? '/';
  const parent = isRoot ? (isUsable(top) ? top : undefined) : foldersUp(top, join(top, path)).find(isUsable);
  if (parent === undefined) return { why: `the cgroup ${path} is not delegated to this user` };
  const offered = words(join(parent, 'cgroup.controllers'));
  const names = CONTROLLERS.filter((name) => offered.includes(name));
  if (names.length === 0) return { why: `the cgroup ${path} has none of ${CONTROLLERS.join(', ')}` };
  return { version: 2, parents: Object.fromEntries(names.map((name) => [name, parent])) };
}

/** The same after a trial: one is made, joined and removed again. */
export function tryCgroups(cgroups = findCgroups()): Cgroups | { readonly why: string } {
  if ('why' in cgroups) return cgroups;
  const folders = foldersOf(cgroups, [`kubevirt-ts-trial-${process.pid}`]);
  try {
    makeCgroup(cgroups, folders, { pids: 100, memoryBytes: 2 ** 30, cores: 1 });
    const [program = '', ...args] = [...joinWords(folders), 'true'];
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 5_000 });
    return status === 0 ? cgroups : { why: `a process cannot join a cgroup of ours: ${stderr.trim()}` };
  } catch (error) {
    return { why: `no cgroup can be made: ${error instanceof Error ? error.message : error}` };
  } finally {
    removeCgroups(folders);
  }
}

/** The folder of a cgroup in each tree, by its name in ours and those above it. */
export function foldersOf({ parents }: Cgroups, names: readonly string[]): string[] {
  return [...new Set(Object.values(parents).map((parent) => join(parent, ...names)))];
}

/** Makes it with its limits; one that is there gets these limits. */
export function makeCgroup({ version, parents }: Cgroups, folders: readonly string[], limits: CgroupLimits): void {
  const quota = limits.cores && Math.max(1000, Math.ceil(limits.cores * CPU_PERIOD_US)); // what the kernel takes at least
  for (const folder of folders) {
    if (version === 2) delegate({ version, parents }, folder);
    mkdirSync(folder, { recursive: true });
    const has = (name: Controller) => parents[name] !== undefined && folder.startsWith(`${parents[name]}/`);
    const write = (file: string, value: number | string) => writeFileSync(join(folder, file), `${value}`);
    if (has('pids')) write('pids.max', limits.pids);
    if (version === 1) {
      if (has('memory') && limits.memoryBytes) write('memory.limit_in_bytes', Math.ceil(limits.memoryBytes));
      if (has('cpu') && quota) {
        write('cpu.cfs_period_us', CPU_PERIOD_US);
        write('cpu.cfs_quota_us', quota);
      }
    } else {
      if (has('memory') && limits.memoryBytes) write('memory.max', Math.ceil(limits.memoryBytes));
      if (has('cpu') && quota) write('cpu.max', `${quota} ${CPU_PERIOD_US}`);
    }
  }
}

/** Of version 2: the cgroups between ours and the parent hand the controllers down. */
function delegate({ parents }: Cgroups, folder: string): void {
  const wanted = CONTROLLERS.filter((name) => parents[name] !== undefined);
  const [parent = ''] = Object.values(parents);
  const above = foldersUp(parent, dirname(folder)).reverse();
  for (const each of above) {
    mkdirSync(each, { recursive: true });
    const file = join(each, 'cgroup.subtree_control');
    const given = words(file);
    const missing = wanted.filter((name) => !given.includes(name));
    if (missing.length > 0) writeFileSync(file, missing.map((name) => `+${name}`).join(' '));
  }
}

/** Words that go before those of a program that is to be in these cgroups. */
export function joinWords(folders: readonly string[]): string[] {
  return folders.length === 0 ? [] : ['sh', '-c', JOIN, 'join', ...folders, '--'];
}

/** True when the kernel ended a process in one of these cgroups because its memory was used up. */
export function ranOutOfMemory(folders: readonly string[]): boolean {
  return folders.some((folder) =>
    ['memory.events', 'memory.oom_control'].some((file) => /^oom_kill [1-9]/m.test(readText(join(folder, file)) ?? '')),
  );
}

/** Removes those that nobody is in, and those below them; true when all are gone. */
export function removeCgroups(folders: readonly string[]): boolean {
  return folders.map(removeTree).every(Boolean);
}

function removeTree(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeTree(join(folder, entry.name));
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'; // every error of the file system has a code
  }
}

/** Ours to write, and with controllers to hand down that it does hand down, or could: one with processes of its own cannot, but the top can. */
function isUsable(folder: string): boolean {
  if (!isWritable(folder) || !isWritable(join(folder, 'cgroup.procs'))) return false;
  return words(join(folder, 'cgroup.subtree_control')).length > 0 || isWritable(join(folder, 'cgroup.subtree_control'));
}

/** From a folder up to the top. */
function foldersUp(top: string, from: string): string[] {
  const folders = [from];
  for (let folder = from; folder !== top && folder.startsWith(`${top}/`); ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

function mountIn(line: string): Mount {
  const [, path = '', type = '', options = ''] = line.split(' ');
  return { type, path, options: options.split(',') };
}

function words(path: string): string[] {
  return (readText(path) ?? '').trim().split(/\s+/).filter(Boolean);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // not there, or not for us
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

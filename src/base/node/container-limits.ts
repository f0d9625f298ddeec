/** What this machine offers to hold containers to their limits: the kernel's own for processes, cgroups of version 2 for memory and processors. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Enough for what people run, and too few to leave nobody else a process. */
const MOST_PROCESSES = 4096;
const CONTROLLERS = ['cpu', 'memory', 'pids'] as const;
const MOUNTED_AT = '/sys/fs/cgroup';

/** How many processes a user of a container may have: never more than we may have ourselves, for nobody can give more. */
export function processLimit(limits = readText('/proc/self/limits')): number {
  const hard = /^Max processes +\S+ +(\S+)/m.exec(limits ?? '')?.[1] ?? 'unlimited';
  return hard === 'unlimited' ? MOST_PROCESSES : Math.min(MOST_PROCESSES, Number(hard));
}

/** Why no cgroups can be made below our own that hold containers to their limits; undefined when they can. */
export function whyNoCgroups({ root = MOUNTED_AT, own = readText('/proc/self/cgroup') } = {}): string | undefined {
  const all = readText(join(root, 'cgroup.controllers'));
  if (all === undefined) return 'cgroups of version 2 are not what is mounted at /sys/fs/cgroup';
  const path = /^0::(.*)$/m.exec(own ?? '')?.[1] ?? '/';
  const folder = join(root, path);
  if (!isWritable(folder) || !isWritable(join(folder, 'cgroup.procs'))) return `the cgroup ${path} is not delegated to this user`;
  const offered = (readText(join(folder, 'cgroup.controllers')) ?? '').trim().split(/\s+/);
  const missing = CONTROLLERS.filter((name) => !offered.includes(name));
  return missing.length > 0 ? `the cgroup ${path} has no ${missing.join(', ')}` : undefined;
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

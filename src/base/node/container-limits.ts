/** The kernel's own limit for the processes of a container, which needs no cgroup. */
import { readFileSync } from 'node:fs';

/** Enough for what people run, and too few to leave nobody else a process. */
const MOST_PROCESSES = 4096;

/** How many processes a user of a container may have: never more than we may have ourselves, for nobody can give more. */
export function processLimit(limits = readText('/proc/self/limits')): number {
  const hard = /^Max processes +\S+ +(\S+)/m.exec(limits ?? '')?.[1] ?? 'unlimited';
  return hard === 'unlimited' ? MOST_PROCESSES : Math.min(MOST_PROCESSES, Number(hard));
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // not there, or not for us
  }
}

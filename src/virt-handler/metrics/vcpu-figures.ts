/**
 * What the processors of a guest used, each of which is a thread of its QEMU. Which one is asked of QEMU once; then a look is two small files of the
 * kernel for each. QEMU numbers its threads as it sees them, in a Pod of its own: the kernel tells both numbers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../base/json.ts';
import type { Guest } from '../vmi/domains.ts';
import type { VcpuFigures } from './guest-figures.ts';
import { parseStat } from './pod-processes.ts';

type Thread = { readonly id: number; readonly folder: string; readonly startTime: string };
type Measured = Pick<Guest, 'session'>;

const MOST_VCPUS = 512;
const MILLISECONDS = 1e-3;
const NANOSECONDS = 1e-9;

export class VcpuThreads {
  readonly #known = new WeakMap<Measured, readonly Thread[]>();

  /** Empty where they cannot be seen. `folders` are those of the processes of its Pod in `/proc`; `ask` is asked for its threads when they are not known. */
  async read(guest: Measured, folders: readonly string[], ask: () => Promise<unknown>): Promise<readonly VcpuFigures[]> {
    if (folders.length === 0) return [];
    const figures = figuresOf(this.#known.get(guest) ?? []);
    if (figures.length > 0) return figures;
    const found = findThreads(threadIdsIn(await ask()), folders);
    this.#known.set(guest, found);
    return figuresOf(found);
  }
}

/** query-cpus-fast; by number of the processor. One thread for several of them says nothing about any: nothing is known then. */
export function threadIdsIn(answer: unknown): ReadonlyMap<number, number> {
  const ids = new Map<number, number>();
  for (const said of Array.isArray(answer) ? answer.slice(0, MOST_VCPUS) : []) {
    const { 'cpu-index': id, 'thread-id': thread } = isObject(said) ? said : {};
    if (typeof id === 'number' && typeof thread === 'number') ids.set(id, thread);
  }
  return new Set(ids.values()).size === ids.size ? ids : new Map();
}

/** All of them or none: when one is gone they are looked for again. */
function figuresOf(threads: readonly Thread[]): VcpuFigures[] {
  const figures = threads.map(({ id, folder, startTime }): VcpuFigures | undefined => {
    const stat = textOf(join(folder, 'stat'));
    const seen = parseStat(stat);
    if (!stat || seen?.startTime !== startTime) return undefined;
    const state = stat.slice(stat.lastIndexOf(')') + 2).startsWith('R') ? 'running' : 'blocked';
    return { id, state, seconds: seen.userSeconds + seen.systemSeconds, ...waitsOf(folder) };
  });
  return figures.includes(undefined) ? [] : figures.flatMap((each) => each ?? []);
}

function waitsOf(folder: string): Pick<VcpuFigures, 'waitSeconds' | 'delaySeconds'> {
  const delay = Number(textOf(join(folder, 'schedstat'))?.split(' ')[1] ?? Number.NaN);
  const wait = Number(/\bwait_sum\s*:\s*([\d.]+)/.exec(textOf(join(folder, 'sched')) ?? '')?.[1] ?? Number.NaN);
  return {
    ...(!Number.isNaN(wait) && { waitSeconds: wait * MILLISECONDS }),
    ...(!Number.isNaN(delay) && { delaySeconds: delay * NANOSECONDS }),
  };
}

function findThreads(ids: ReadonlyMap<number, number>, folders: readonly string[]): Thread[] {
  if (ids.size === 0) return [];
  const byNumber = new Map<number, Omit<Thread, 'id'>>();
  for (const process of folders)
    for (const task of namesIn(join(process, 'task'))) {
      const folder = join(process, 'task', task);
      const startTime = parseStat(textOf(join(folder, 'stat')))?.startTime;
      const inside = /^NSpid:.*\s(\d+)$/m.exec(textOf(join(folder, 'status')) ?? '')?.[1] ?? task;
      if (startTime !== undefined) byNumber.set(Number(inside), { folder, startTime });
    }
  const threads = [...ids].map(([id, number]) => ({ id, ...byNumber.get(number) }));
  return threads.flatMap(({ id, folder, startTime }) =>
    folder === undefined || startTime === undefined ? [] : [{ id, folder, startTime }],
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it has ended meanwhile
  }
}

/** Undefined when it is not there, or has ended meanwhile. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

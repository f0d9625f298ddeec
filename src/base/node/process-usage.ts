/** What processes use of this machine, each with all that it has started: one look at every process, however many are asked for. */
import { readdirSync, readFileSync } from 'node:fs';

export type ProcessUsage = { readonly cpuSeconds: number; readonly memoryBytes: number };

type Process = { readonly parent: number; readonly startTime: string; readonly own: ProcessUsage };

type Started = { readonly pid: number; readonly startTime: string };

/** The kernel counts in these whatever its own clock is. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

export class ProcessTable {
  readonly #processes: ReadonlyMap<number, Process>;
  readonly #children: ReadonlyMap<number, readonly number[]>;

  constructor(processes: ReadonlyMap<number, Process>) {
    this.#processes = processes;
    this.#children = Map.groupBy(processes.keys(), (pid) => processes.get(pid)?.parent ?? 0);
  }

  /** With what it has started, or alone; undefined when this very process is not there. */
  usageOf({ pid, startTime }: Started, scope: 'tree' | 'alone' = 'tree'): ProcessUsage | undefined {
    const found = this.#processes.get(pid);
    if (found?.startTime !== startTime) return undefined;
    if (scope === 'alone') return found.own;
    let [cpuSeconds, memoryBytes] = [0, 0];
    const seen = new Set([pid]); // a set grows while it is walked
    for (const each of seen) {
      const own = this.#processes.get(each)?.own;
      cpuSeconds += own?.cpuSeconds ?? 0;
      memoryBytes += own?.memoryBytes ?? 0;
      for (const child of this.#children.get(each) ?? []) seen.add(child);
    }
    return { cpuSeconds, memoryBytes };
  }
}

/** As they are now. */
export function readProcesses(): ProcessTable {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return new ProcessTable(
    new Map(
      pids.flatMap((pid) => {
        const found = parseProcess(statOf(pid) ?? '');
        return found ? [[Number(pid), found] as const] : [];
      }),
    ),
  );
}

/** From the file `stat` of a process. */
export function parseProcess(stat: string): Process | undefined {
  // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const numbers = [1, 11, 12, 21].map((index) => Number(fields[index] ?? Number.NaN));
  const [parent = 0, userTicks = 0, systemTicks = 0, pages = 0] = numbers;
  if (numbers.some(Number.isNaN)) return undefined;
  const own = { cpuSeconds: (userTicks + systemTicks) / TICKS_PER_SECOND, memoryBytes: pages * PAGE_BYTES };
  return { parent, startTime: fields[19] ?? '', own };
}

/** Undefined when it has ended meanwhile. */
function statOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
}

/** What a guest uses of its node: the time and the memory of its QEMU process, as the kernel counts them. */
import { readFileSync } from 'node:fs';
import { ApiError } from '../../base/errors.ts';
import { findByVariable } from '../../base/node/process-identity.ts';

export type Usage = {
  /** Processor time since the start. */
  readonly cpuSeconds: number;
  /** Resident memory of QEMU: that of the guest which it has touched, and QEMU's own. */
  readonly memoryBytes: number;
  readonly atMs: number;
};

/** The kernel counts in these whatever its own clock is. */
const TICKS_PER_SECOND = 100;

/** Throws NotFound where the processes of the node cannot be seen, as in a Pod of a Kubernetes cluster. */
export function readUsage(podFolder: string, nowMs: number): Usage {
  const processes = findByVariable('CONTAINER_SANDBOX_MOUNT_POINT', (path) => path.startsWith(`${podFolder}/`));
  const used = processes.flatMap(({ pid }) => usedBy(pid) ?? []);
  if (used.length === 0)
    throw new ApiError(
      'NotFound',
      'the process of the guest cannot be seen from here; where metrics-server is installed, kubectl top pod shows its Pod',
    );
  return {
    cpuSeconds: used.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    memoryBytes: used.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
    atMs: nowMs,
  };
}

/** From the files `stat` and `status` of a process. */
export function parseUsage(stat: string, status: string): Omit<Usage, 'atMs'> | undefined {
  // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const kibibytes = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
  if (Number.isNaN(ticks) || kibibytes === undefined) return undefined;
  return { cpuSeconds: ticks / TICKS_PER_SECOND, memoryBytes: Number(kibibytes) * 1024 };
}

function usedBy(pid: number): Omit<Usage, 'atMs'> | undefined {
  try {
    return parseUsage(readFileSync(`/proc/${pid}/stat`, 'utf8'), readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return undefined; // ended meanwhile
  }
}

/** What a guest uses of its node: the time and the memory of the processes of its Pod, as the kernel counts them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Usage } from '../../api/handler/answers.ts';
import { ApiError } from '../../base/errors.ts';
import { findByVariable } from '../../base/node/process-identity.ts';
import { SANDBOX_VARIABLE } from '../../base/node/sandbox-path.ts';

/** The kernel counts in these whatever its own clock is. */
const TICKS_PER_SECOND = 100;

export type GuestProcesses = {
  readonly podUid: string;
  /** `pods/UID` of the kubelet. */
  readonly podFolder: string;
  /** Where the `/proc` of the node is mounted, of which virt-handler otherwise sees only its own Pod's. */
  readonly nodeProcesses?: string | undefined;
};

/** Throws NotFound where no process of the guest can be seen. */
export function readUsage({ podUid, podFolder, nodeProcesses }: GuestProcesses, nowMs: number): Usage {
  const folders =
    nodeProcesses === undefined
      ? findByVariable(SANDBOX_VARIABLE, (path) => path.startsWith(`${podFolder}/`)).map(({ pid }) => `/proc/${pid}`)
      : foldersOfPod(nodeProcesses, podUid);
  const used = folders.flatMap((folder) => usedBy(folder) ?? []);
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

/** Processes whose cgroup is one of this Pod, in the content of their file `cgroup`; kubelets that use systemd write the uid with `_`. */
export function isOfPod(cgroups: string, podUid: string): boolean {
  return cgroups.includes(`pod${podUid}`) || cgroups.includes(`pod${podUid.replaceAll('-', '_')}`);
}

function foldersOfPod(processes: string, podUid: string): string[] {
  return readdirSync(processes)
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => join(processes, pid))
    .filter((folder) => isOfPod(textOf(join(folder, 'cgroup')) ?? '', podUid));
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

function usedBy(folder: string): Omit<Usage, 'atMs'> | undefined {
  const [stat, status] = [textOf(join(folder, 'stat')), textOf(join(folder, 'status'))];
  return stat === undefined || status === undefined ? undefined : parseUsage(stat, status);
}

/** Undefined when the process has ended meanwhile. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

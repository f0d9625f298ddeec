/**
 * What the processes of Pods use, as the kernel counts it. To find which processes are of which Pod is to read all there are: that is done once for
 * all guests, and again only when one of them is looked for that is not known; then a look is one small file for each process.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PODS_FOLDER } from '../../api/core/pod-folder-layout.ts';
import type { Clock } from '../../base/clock.ts';
import { readVariable } from '../../base/node/process-identity.ts';
import { SANDBOX_VARIABLE } from '../../base/node/sandbox-path.ts';
import type { ProcessFigures } from './guest-figures.ts';

export type PodProcessesOptions = {
  readonly kubeletRoot: string;
  /** Where the `/proc` of the node is mounted, of which virt-handler otherwise sees only its own Pod's. */
  readonly nodeProcesses?: string | undefined;
  readonly clock: Clock;
};
type Seen = ProcessFigures & { readonly startTime: string };
type Known = { readonly folder: string; readonly startTime: string };

const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;
/** Guests whose processes cannot be seen are looked for this often, all at once. */
const SCAN_EVERY_MS = 5_000;
const POD_CGROUP = /pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})/;

export class PodProcesses {
  readonly #options: PodProcessesOptions;
  #known: ReadonlyMap<string, readonly Known[]> = new Map();
  #scannedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PodProcessesOptions) {
    this.#options = options;
  }

  /** Undefined where none can be seen. */
  read(podUid: string): ProcessFigures | undefined {
    return this.#sum(podUid) ?? (this.#scan() ? this.#sum(podUid) : undefined);
  }

  /** Of its processes, in `/proc`, as they were found last. */
  foldersOf(podUid: string): readonly string[] {
    return (this.#known.get(podUid) ?? []).map(({ folder }) => folder);
  }

  /** Undefined also when one of those we knew is gone: others may have come. */
  #sum(podUid: string): ProcessFigures | undefined {
    const known = this.#known.get(podUid) ?? [];
    const seen = known.map(({ folder, startTime }) => {
      const now = parseStat(textOf(join(folder, 'stat')));
      return now?.startTime === startTime ? now : undefined;
    });
    if (seen.length === 0 || seen.includes(undefined)) return undefined;
    const sum = (of: keyof ProcessFigures) => seen.reduce((total, each) => total + (each?.[of] ?? 0), 0);
    return { userSeconds: sum('userSeconds'), systemSeconds: sum('systemSeconds'), residentBytes: sum('residentBytes') };
  }

  #scan(): boolean {
    const { clock, nodeProcesses = '/proc' } = this.#options;
    if (clock.steady() - this.#scannedAt < SCAN_EVERY_MS) return false;
    this.#scannedAt = clock.steady();
    const found = new Map<string, Known[]>();
    for (const pid of readdirSync(nodeProcesses)) {
      if (!/^\d+$/.test(pid)) continue;
      const folder = join(nodeProcesses, pid);
      const podUid = this.#podOf(folder, Number(pid));
      const seen = podUid === undefined ? undefined : parseStat(textOf(join(folder, 'stat')));
      if (podUid !== undefined && seen) found.set(podUid, [...(found.get(podUid) ?? []), { folder, startTime: seen.startTime }]);
    }
    this.#known = found;
    return true;
  }

  #podOf(folder: string, pid: number): string | undefined {
    const { kubeletRoot, nodeProcesses } = this.#options;
    if (nodeProcesses !== undefined) return podOfCgroups(textOf(join(folder, 'cgroup')) ?? '');
    const pods = `${join(kubeletRoot, PODS_FOLDER)}/`;
    const path = readVariable(pid, SANDBOX_VARIABLE);
    return path?.startsWith(pods) ? path.slice(pods.length).split('/')[0] : undefined;
  }
}

/** The uid of the Pod whose cgroup is in the content of a file `cgroup`; kubelets that use systemd write it with `_`. */
export function podOfCgroups(cgroups: string): string | undefined {
  return POD_CGROUP.exec(cgroups)?.[1]?.replaceAll('_', '-');
}

/** From the file `stat` of a process; undefined when it has ended. */
export function parseStat(stat: string | undefined): Seen | undefined {
  // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state, user, system, startTime, pages] = [fields[0], Number(fields[11]), Number(fields[12]), fields[19], Number(fields[21])];
  if (state === undefined || 'ZXx'.includes(state) || startTime === undefined || Number.isNaN(user + system + pages)) return undefined;
  return { userSeconds: user / TICKS_PER_SECOND, systemSeconds: system / TICKS_PER_SECOND, residentBytes: pages * PAGE_BYTES, startTime };
}

/** Undefined when the process has ended meanwhile. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

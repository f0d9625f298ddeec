/** One look at a guest: three short questions to QEMU and a few files of the kernel. */
import { guestMemoryBytesOf } from '../../api/kubevirt/vmi-size.ts';
import type { Guest } from '../vmi/domains.ts';
import type { AgentCounts } from './agent-counts.ts';
import { type GuestFigures, readBalloonBytes, readDisks, readGuestMemory } from './guest-figures.ts';
import type { PodProcesses } from './pod-processes.ts';
import type { VcpuThreads } from './vcpu-figures.ts';

/** One that hangs must not hold up the look at others. */
const TIMEOUT_MS = 2_000;
const BALLOON = '/machine/peripheral/balloon0';

type Execute = (command: string, parameters?: object) => Promise<unknown>;

export type MeasureOptions = {
  readonly processes: PodProcesses;
  readonly vcpus: VcpuThreads;
  readonly counts: AgentCounts;
  readonly nowMs: number;
};

/** Throws when QEMU does not answer. What the guest does not have, or does not tell, is left out. */
export async function measureGuest(guest: Guest, { processes, vcpus, counts, nowMs }: MeasureOptions): Promise<GuestFigures> {
  const { vmi, session, podUid } = guest;
  const execute: Execute = (command, parameters = {}) => session.execute(command, parameters, { timeoutMs: TIMEOUT_MS });
  const { disks = [], autoattachMemBalloon = true } = vmi.spec.domain.devices;
  const hasBalloon = autoattachMemBalloon !== false;
  const [blocks, balloon, stats] = await Promise.all([
    execute('query-blockstats'),
    hasBalloon ? orNothing(execute('query-balloon')) : undefined,
    hasBalloon ? orNothing(execute('qom-get', { path: BALLOON, property: 'guest-stats' })) : undefined,
  ]);
  const process = processes.read(podUid);
  return {
    atMs: nowMs,
    process,
    vcpus: await vcpus.read(guest, processes.foldersOf(podUid), () => orNothing(execute('query-cpus-fast'))),
    balloonBytes: readBalloonBytes(balloon),
    memory: readGuestMemory(stats, guestMemoryBytesOf(vmi.spec) ?? 0),
    disks: readDisks(
      blocks,
      disks.map(({ name }) => name),
    ),
    ...counts.latest(guest, nowMs),
  };
}

/** A part that this machine does not have, or a guest that does not answer, is no reason not to know the rest. */
async function orNothing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch {
    return undefined;
  }
}

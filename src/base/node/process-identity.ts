/**
 * Which process this is, so that it is recognised later by somebody who did not start it: a pid alone is reused,
 * a pid with its start time is not, and both mean nothing after the next boot.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export type ProcessIdentity = {
  readonly pid: number;
  /** Clock ticks between boot and the start of the process, as the kernel counts them; `exec` does not change it. */
  readonly startTime: string;
  readonly bootId: string;
};

/** Differs after every boot of the machine. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** The identity of a process that runs now; undefined when there is none, or only a zombie that nobody has collected yet. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = readProcessStat(pid);
  return stat && !stat.isDead ? { pid, startTime: stat.startTime, bootId: bootId() } : undefined;
}

/** Like `identify`, but for a child that was just spawned: it may have ended already and its identity still counts. */
export function identifyChild(pid: number): ProcessIdentity | undefined {
  const stat = readProcessStat(pid);
  return stat && { pid, startTime: stat.startTime, bootId: bootId() };
}

/** True while exactly this process runs: same boot, same pid, same start time, not a zombie. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  const stat = readProcessStat(identity.pid);
  return stat !== undefined && !stat.isDead && stat.startTime === identity.startTime && bootId() === identity.bootId;
}

/** True while it is held by a signal that stops. */
export function isStopped(identity: ProcessIdentity): boolean {
  return isSameProcess(identity) && readProcessStat(identity.pid)?.isStopped === true;
}

/** Sends a signal to this very process (or to its process group), never to a successor of its pid; false when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals, to: 'process' | 'group' = 'process'): boolean {
  if (!isSameProcess(identity)) return false;
  try {
    return process.kill(to === 'group' ? -identity.pid : identity.pid, signal);
  } catch (error) {
    if (isCode(error, 'ESRCH')) return false;
    throw error;
  }
}

/** Ends it with what is in its group; the first process of a container leads none, and takes all others in the container with it. */
export function killProcess(identity: ProcessIdentity): void {
  if (!signalProcess(identity, 'SIGKILL', 'group')) signalProcess(identity, 'SIGKILL');
}

/** True when both processes are in one network namespace, as far as we may know. */
export function sharesNetwork(pid: number, otherPid: number): boolean {
  const network = networkOf(pid);
  return network !== undefined && network === networkOf(otherPid);
}

function networkOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined; // ended meanwhile, or somebody else's
  }
}

/** Every running process that has this environment variable (as it was at its last exec) with a value that matches. */
export function findByVariable(name: string, matches: (value: string) => boolean): ProcessIdentity[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => {
      const value = readVariable(Number(pid), name);
      return value !== undefined && matches(value);
    })
    .map((pid) => identify(Number(pid)))
    .filter((identity) => identity !== undefined);
}

/** A variable of the environment of a process, as it was at its last exec. */
export function readVariable(pid: number, name: string): string | undefined {
  const start = `${name}=`;
  return readProcessFile(pid, 'environ')
    ?.split('\0')
    .find((entry) => entry.startsWith(start))
    ?.slice(start.length);
}

function readProcessStat(pid: number): { startTime: string; isDead: boolean; isStopped: boolean } | undefined {
  const text = readProcessFile(pid, 'stat');
  if (text === undefined) return undefined;
  // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = ''] = fields;
  return { startTime: fields[19] ?? '', isDead: 'ZXx'.includes(state), isStopped: state === 'T' };
}

/** Undefined when the process is gone or belongs to somebody else. */
function readProcessFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

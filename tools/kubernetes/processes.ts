/**
 * The processes of a cluster. Each carries a variable that names the cluster's folder and its part in it (`/path/of/cluster#etcd`,
 * `...#node1/kubelet`), so they are found again by anybody, without pid files that could be old.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.ts';
import { findByVariable, isSameProcess, type ProcessIdentity, signalProcess } from '../../src/base/node/process-identity.ts';

const VARIABLE = 'KUBEVIRT_TS_CLUSTER_PART';
const END_PATIENCE_MS = 60_000;

export type Part = {
  readonly folder: string;
  readonly part: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** Starts a process that outlives us. */
export function startPart({ folder, part, program, args, logFile, env }: Part): void {
  const log = openSync(logFile, 'a', 0o600);
  const value = `${folder}#${part}`;
  try {
    const child = spawn(program, args, {
      stdio: ['ignore', log, log],
      cwd: folder,
      detached: true,
      env: { PATH: `${process.env['PATH']}:/usr/sbin:/sbin`, HOME: '/root', ...env, PART: value, [VARIABLE]: value },
    });
    child.on('error', () => {}); // seen by whoever waits for the program to be ready
    child.unref();
  } finally {
    closeSync(log);
  }
}

/** The processes of one part; `program` is the name the kernel has for them (what a part starts carries its variable, too). */
export function findPart(folder: string, part: string, program: string): ProcessIdentity[] {
  return findByVariable(VARIABLE, (value) => value === `${folder}#${part}`).filter(({ pid }) => nameOf(pid) === program.slice(0, 15));
}

/** Every process of the cluster but those inside containers, which end with their node. */
export function findAllParts(folder: string): ProcessIdentity[] {
  return findByVariable(VARIABLE, (value) => value.startsWith(`${folder}#`));
}

/** Ends them at once, and resolves when they are gone. */
export async function killProcesses(processes: readonly ProcessIdentity[]): Promise<void> {
  for (const each of processes) signalProcess(each, 'SIGKILL');
  const deadline = systemClock.now() + END_PATIENCE_MS;
  for (let left = processes; ; ) {
    left = left.filter(isSameProcess);
    if (left.length === 0) return;
    if (systemClock.now() > deadline) throw new Error(`these processes do not end: ${left.map(({ pid }) => pid).join(', ')}`);
    await systemClock.sleep(20);
  }
}

/** The processes that this one started and that still are its children. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // it has just ended
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

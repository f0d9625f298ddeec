/** Figures as benchmarks tell them. */
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

/** When and where a run was, and how busy the machine: times mean little without. */
export function occasion() {
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

export function median(values: readonly number[]): number {
  return Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);
}

export function ratio(ours: number, theirs: number): number {
  return Number((ours / theirs).toFixed(2));
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** What a process has in memory, in MiB. */
export function residentMiBOf(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}

/** What a process has used of the CPU so far, user and system together, without its children; in steps of 10 ms. */
export function cpuMsOf(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10; // Linux counts a hundredth of a second for every program, on every machine of ours
}

/** How long a process has been there, in the same steps. */
export function ageMsOf(pid: number): number {
  const upMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  return upMs - Number(statOf(pid)[19]) * 10;
}

function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before it may contain anything
}

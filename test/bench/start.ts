/**
 * How long from "start" to the login prompt: bare QEMU against ours, with the same arguments on the same disk, taken in turns in one
 * run; and how much memory and CPU time the embedded cluster takes, idle and with one machine. `--rounds N`
 * chooses how many of each.
 */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SERIAL_LOG } from '../../src/api/launcher/files.ts';
import { EmbeddedCluster } from '../e2e/harness.ts';
import { type Recording, record, timeBare, untilPrompt } from './bare-qemu.ts';
import { cpuMsOf, median, occasion, ratio, residentMiBOf, seconds } from './figures.ts';

const DEFAULT_ROUNDS = 5;
const IDLE_SECONDS = 15;

export async function benchmark(args: readonly string[] = []): Promise<void> {
  const rounds = roundsFrom(args);
  await using cluster = await EmbeddedCluster.start();
  await sleep(2 * IDLE_SECONDS * 1000); // what starting took is given back
  const idleMiB = residentMiBOf(cluster.pid());
  const ours: Start[] = [];
  const bare: number[] = [];
  let oneMachineMiB = 0;
  let qemuMiB = 0;
  for (let round = 0; round < rounds; round++) {
    const { recording, ...start } = await timeOurs(cluster);
    ours.push(start);
    oneMachineMiB = residentMiBOf(cluster.pid());
    qemuMiB = residentMiBOf(cluster.guestPids()[0] ?? 0);
    await cluster.must('kubectl', ['delete', 'vm', 'hello']);
    bare.push(await timeBare(recording));
  }
  const idleCpuMs = await idleCpuMsPerSecond(cluster);
  report({ ours, bare, idleMiB, idleCpuMs, oneMachineMiB, qemuMiB });
}

function roundsFrom(args: readonly string[]): number {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: 'string', default: String(DEFAULT_ROUNDS) } } });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds must be a whole number of at least 1, not ${values.rounds}`);
  return rounds;
}

/** Once the last machine has gone: what is left is what a cluster does that nobody uses. */
async function idleCpuMsPerSecond(cluster: EmbeddedCluster): Promise<number> {
  const before = cpuMsOf(cluster.pid());
  await sleep(IDLE_SECONDS * 1000);
  return Number(((cpuMsOf(cluster.pid()) - before) / IDLE_SECONDS).toFixed(1));
}

/** From the moment kubectl is called to the prompt in the guest's serial log. */
async function timeOurs(cluster: EmbeddedCluster): Promise<Start & { readonly recording: Recording }> {
  const cpuBefore = cpuMsOf(cluster.pid());
  const started = performance.now();
  await cluster.must('kubectl', ['create', '-f', 'examples/vm.yaml']);
  await cluster.until('vmi/hello', '.status.phase', 'Running');
  const running = performance.now() - started;
  const [pid = 0] = cluster.guestPids();
  const recording = record(pid);
  await untilPrompt(join(readlinkSync(`/proc/${pid}/cwd`), SERIAL_LOG));
  return { running, login: performance.now() - started, cpuMs: cpuMsOf(cluster.pid()) - cpuBefore, recording };
}

/** Milliseconds from the call to Running and to the login prompt, and the cluster's CPU time meanwhile. */
type Start = { readonly running: number; readonly login: number; readonly cpuMs: number };

type Figures = {
  readonly ours: readonly Start[];
  readonly bare: readonly number[];
  readonly idleMiB: number;
  readonly idleCpuMs: number;
  readonly oneMachineMiB: number;
  readonly qemuMiB: number;
};

function report({ ours, bare, idleMiB, idleCpuMs, oneMachineMiB, qemuMiB }: Figures): void {
  const oursLogin = median(ours.map((round) => round.login));
  const oursRunning = median(ours.map((round) => round.running));
  const oursCpuMs = median(ours.map((round) => round.cpuMs));
  const bareLogin = median(bare);
  const figures = {
    benchmark: 'start',
    ...occasion(),
    rounds: ours.length,
    bareLoginMs: bareLogin,
    oursRunningMs: oursRunning,
    oursLoginMs: oursLogin,
    ratio: ratio(oursLogin, bareLogin),
    embeddedStartCpuMs: oursCpuMs,
    embeddedIdleCpuMsPerSecond: idleCpuMs,
    embeddedIdleMiB: idleMiB,
    embeddedOneMachineMiB: oneMachineMiB,
    qemuMiB,
  };
  console.log(`bare QEMU to login prompt            ${seconds(bareLogin)}`);
  console.log(`ours, kubectl create to Running      ${seconds(oursRunning)}`);
  console.log(`ours, kubectl create to login prompt ${seconds(oursLogin)}   x ${figures.ratio}`);
  console.log(`embedded cluster, CPU, to the prompt ${oursCpuMs} ms`);
  console.log(`embedded cluster, CPU, idle          ${idleCpuMs} ms a second`);
  console.log(`embedded cluster, resident, idle     ${idleMiB} MiB`);
  console.log(`embedded cluster, one machine        ${oneMachineMiB} MiB`);
  console.log(`QEMU of that machine                 ${qemuMiB} MiB`);
  console.log(JSON.stringify(figures));
}

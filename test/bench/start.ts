/**
 * How long from "start" to the login prompt: bare QEMU against ours, with the same arguments on the same disk, taken in turns in one
 * run; and how much memory and CPU time the embedded cluster takes, idle and with one machine. `--rounds N`
 * chooses how many of each. One start before them is not counted: its disk is copied while it boots, for the bare ones. What measures
 * takes as little beside ours as beside the bare one: no copies, and no process that waits.
 */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { SERIAL_LOG } from '../../src/api/launcher/files.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { loadKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { buildLauncher } from '../../tools/launcher/build.ts';
import { EmbeddedCluster } from '../e2e/harness.ts';
import { copyOf, measureBare, record, untilPrompt } from './bare-qemu.ts';
import { ageMsOf, cpuMsOf, median, occasion, ratio, residentMiBOf, seconds } from './figures.ts';

const DEFAULT_ROUNDS = 5;
const IDLE_SECONDS = 15;
/** Before each start that is measured, ours or bare: what the one before it has left to do is done by then. */
const CALM_MS = 3_000;

export async function benchmark(args: readonly string[] = []): Promise<void> {
  const rounds = roundsFrom(args);
  await buildLauncher(); // as script/bootstrap and packages have it
  await using cluster = await EmbeddedCluster.start();
  await sleep(2 * IDLE_SECONDS * 1000); // what starting took is given back
  const idleMiB = residentMiBOf(cluster.pid());
  const client = clientOf(cluster);
  const recording = await timeOurs(cluster, client, record).then(({ result }) => result);
  await cluster.must('kubectl', ['delete', 'vm', 'hello']);
  const ours: Start[] = [];
  const bare: Bare[] = [];
  let oneMachineMiB = 0;
  let qemuMiB = 0;
  for (let round = 0; round < rounds; round++) {
    await sleep(CALM_MS);
    const { result: pid, ...start } = await timeOurs(cluster, client, (pid) => pid);
    ours.push(start);
    oneMachineMiB = residentMiBOf(cluster.pid());
    qemuMiB = residentMiBOf(pid);
    await cluster.must('kubectl', ['delete', 'vm', 'hello']);
    const copy = copyOf(recording, `round-${round}`);
    await sleep(CALM_MS);
    bare.push(await measureBare(copy));
  }
  recording.remove();
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

/** From the moment kubectl is called to the prompt in the guest's serial log; what `look` finds at its QEMU as soon as it is Running comes with it. */
async function timeOurs<T>(cluster: EmbeddedCluster, client: Client, look: (pid: number) => T): Promise<Start & { readonly result: T }> {
  const stop = new AbortController();
  const runs = untilRunning(client, stop.signal); // a connection that is open already; kubectl would be one more program beside the guest
  const cpuBefore = cpuMsOf(cluster.pid());
  const started = performance.now();
  try {
    await cluster.must('kubectl', ['create', '-f', 'examples/vm.yaml']);
    await runs;
    const running = performance.now() - started;
    const pid = qemuOf(cluster);
    const qemu = performance.now() - started - ageMsOf(pid);
    const result = look(pid);
    await untilPrompt(join(readlinkSync(`/proc/${pid}/cwd`), SERIAL_LOG));
    const [cpuMs, qemuCpuMs] = [cpuMsOf(cluster.pid()) - cpuBefore, cpuMsOf(pid)];
    return { running, qemu, login: performance.now() - started, cpuMs, qemuCpuMs, result };
  } finally {
    stop.abort();
  }
}

async function untilRunning(client: Client, signal: AbortSignal): Promise<void> {
  for await (const event of client.watch(VMIS, { namespace: 'default', signal }))
    if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && event.object.status?.phase === 'Running') return;
  throw new Error('the watch ended before the machine was Running');
}

function clientOf(cluster: EmbeddedCluster): Client {
  const config = loadKubeconfig(cluster.environment()['KUBECONFIG']);
  return createClient({ fetch: createTlsFetch(config), baseUrl: config.server, userAgent: 'bench' });
}

/** Processes that wait for it are beside it. */
function qemuOf(cluster: EmbeddedCluster): number {
  const found = cluster.guestPids().find((pid) => readlinkSync(`/proc/${pid}/exe`).includes('qemu-system'));
  if (found === undefined) throw new Error('the machine is Running and has no QEMU');
  return found;
}

/** Milliseconds to the prompt, and QEMU's CPU time until then. */
type Bare = { readonly login: number; readonly qemuCpuMs: number };
/** Milliseconds from the call; also to the process that is QEMU, and to Running; and the cluster's CPU time meanwhile. */
type Start = Bare & { readonly running: number; readonly qemu: number; readonly cpuMs: number };

type Figures = {
  readonly ours: readonly Start[];
  readonly bare: readonly Bare[];
  readonly idleMiB: number;
  readonly idleCpuMs: number;
  readonly oneMachineMiB: number;
  readonly qemuMiB: number;
};

function report({ ours, bare, idleMiB, idleCpuMs, oneMachineMiB, qemuMiB }: Figures): void {
  const oursLogin = median(ours.map((round) => round.login));
  const oursRunning = median(ours.map((round) => round.running));
  const oursCpuMs = median(ours.map((round) => round.cpuMs));
  const oursQemu = median(ours.map((round) => round.qemu));
  const bareLogin = median(bare.map((round) => round.login));
  const least = ratio(Math.min(...ours.map((round) => round.login)), Math.min(...bare.map((round) => round.login)));
  const [oursQemuCpuMs, bareQemuCpuMs] = [ours, bare].map((rounds) => median(rounds.map((round) => round.qemuCpuMs)));
  const figures = {
    benchmark: 'start',
    ...occasion(),
    rounds: ours.length,
    bareLoginMs: bareLogin,
    oursRunningMs: oursRunning,
    oursLoginMs: oursLogin,
    ratio: ratio(oursLogin, bareLogin),
    ratioOfLeast: least,
    oursQemuMs: oursQemu,
    oursQemuCpuMs,
    bareQemuCpuMs,
    embeddedStartCpuMs: oursCpuMs,
    embeddedIdleCpuMsPerSecond: idleCpuMs,
    embeddedIdleMiB: idleMiB,
    embeddedOneMachineMiB: oneMachineMiB,
    qemuMiB,
  };
  console.log(`bare QEMU to login prompt            ${seconds(bareLogin)}`);
  console.log(`ours, kubectl create to QEMU         ${seconds(oursQemu)}`);
  console.log(`QEMU's CPU to the prompt, ours/bare  ${oursQemuCpuMs} / ${bareQemuCpuMs} ms`);
  console.log(`ours, kubectl create to Running      ${seconds(oursRunning)}`);
  console.log(`ours, kubectl create to login prompt ${seconds(oursLogin)}   x ${figures.ratio}; the quickest of each x ${least}`);
  console.log(`embedded cluster, CPU, to the prompt ${oursCpuMs} ms`);
  console.log(`embedded cluster, CPU, idle          ${idleCpuMs} ms a second`);
  console.log(`embedded cluster, resident, idle     ${idleMiB} MiB`);
  console.log(`embedded cluster, one machine        ${oneMachineMiB} MiB`);
  console.log(`QEMU of that machine                 ${qemuMiB} MiB`);
  console.log(JSON.stringify(figures));
}

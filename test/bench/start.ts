/**
 * How long from "start" to the login prompt: bare QEMU against ours, with the same arguments on the same disk, taken in turns in one
 * run; and how much memory the embedded cluster takes, idle and with one machine.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { EmbeddedCluster } from '../e2e/harness.ts';

const ROUNDS = 5;
const LOGIN = /login: $/;

export async function benchmark(): Promise<void> {
  await using cluster = await EmbeddedCluster.start();
  const idleMiB = residentMiB(cluster.pid());
  const ours: { running: number; login: number }[] = [];
  const bare: number[] = [];
  let oneMachineMiB = 0;
  let qemuMiB = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { running, login, recording } = await timeOurs(cluster);
    ours.push({ running, login });
    oneMachineMiB = residentMiB(cluster.pid());
    qemuMiB = residentMiB(cluster.guestPids()[0] ?? 0);
    await cluster.must('kubectl', ['delete', 'vm', 'hello']);
    bare.push(await timeBare(recording));
    recording.remove();
  }
  report({ ours, bare, idleMiB, oneMachineMiB, qemuMiB });
}

/** Everything that is needed to start the same QEMU again: a copy of its Pod's folder, made as soon as it ran. */
type Recording = { readonly argv: readonly string[]; readonly cwd: string; remove(): void };

/** From the moment kubectl is called to the prompt in the guest's serial log. */
async function timeOurs(cluster: EmbeddedCluster): Promise<{ running: number; login: number; recording: Recording }> {
  const started = performance.now();
  await cluster.must('kubectl', ['create', '-f', 'examples/vm.yaml']);
  await cluster.until('vmi/hello', '.status.phase', 'Running');
  const running = performance.now() - started;
  const [pid = 0] = cluster.guestPids();
  const recording = record(pid);
  await untilPrompt(join(readlinkSync(`/proc/${pid}/cwd`), 'serial0.log'));
  return { running, login: performance.now() - started, recording };
}

/** The copy lies as deep as the original, so that QEMU's relative paths hold; the guest has hardly written to its overlay by then. */
function record(pid: number): Recording {
  const original = readlinkSync(`/proc/${pid}/cwd`);
  const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const [, kubelet = '', uid = '', rest = ''] = /^(.*)\/pods\/([^/]+)\/(.*)$/.exec(original) ?? [];
  const copy = join(kubelet, 'bench', uid);
  cpSync(join(kubelet, 'pods', uid), copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.sock') && !path.endsWith('.log'),
  });
  return { argv, cwd: join(copy, rest), remove: () => rmSync(copy, { recursive: true, force: true }) };
}

async function timeBare({ argv, cwd }: Recording): Promise<number> {
  const [program = '', ...args] = argv;
  const started = performance.now();
  const child = spawn(program, args, { cwd, stdio: 'ignore' });
  try {
    await untilPrompt(join(cwd, 'serial0.log'));
    return performance.now() - started;
  } finally {
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
  }
}

async function untilPrompt(log: string): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!(existsSync(log) && LOGIN.test(readFileSync(log, 'latin1')))) {
    if (performance.now() > deadline) throw new Error(`no login prompt in ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function residentMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}

type Figures = {
  readonly ours: readonly { readonly running: number; readonly login: number }[];
  readonly bare: readonly number[];
  readonly idleMiB: number;
  readonly oneMachineMiB: number;
  readonly qemuMiB: number;
};

function report({ ours, bare, idleMiB, oneMachineMiB, qemuMiB }: Figures): void {
  const oursLogin = median(ours.map((round) => round.login));
  const oursRunning = median(ours.map((round) => round.running));
  const bareLogin = median(bare);
  const figures = {
    benchmark: 'start',
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    rounds: ROUNDS,
    bareLoginMs: bareLogin,
    oursRunningMs: oursRunning,
    oursLoginMs: oursLogin,
    ratio: Number((oursLogin / bareLogin).toFixed(2)),
    embeddedIdleMiB: idleMiB,
    embeddedOneMachineMiB: oneMachineMiB,
    qemuMiB,
  };
  console.log(`bare QEMU to login prompt            ${seconds(bareLogin)}`);
  console.log(`ours, kubectl create to Running      ${seconds(oursRunning)}`);
  console.log(`ours, kubectl create to login prompt ${seconds(oursLogin)}   x ${figures.ratio}`);
  console.log(`embedded cluster, resident, idle     ${idleMiB} MiB`);
  console.log(`embedded cluster, one machine        ${oneMachineMiB} MiB`);
  console.log(`QEMU of that machine                 ${qemuMiB} MiB`);
  console.log(JSON.stringify(figures));
}

function median(values: readonly number[]): number {
  return Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

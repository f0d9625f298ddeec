/**
 * How long from "start" to the login prompt: bare QEMU against ours, with the same arguments on the same disk, taken in turns in one
 * run; and how much memory the embedded cluster takes, idle and with one machine.
 */
import { cpSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SERIAL_LOG } from '../../src/api/launcher/files.ts';
import { EmbeddedCluster } from '../e2e/harness.ts';
import { argumentsOf, type Recording, timeBare, untilPrompt } from './bare-qemu.ts';
import { median, occasion, ratio, residentMiBOf, seconds } from './figures.ts';

const ROUNDS = 5;

export async function benchmark(): Promise<void> {
  await using cluster = await EmbeddedCluster.start();
  const idleMiB = residentMiBOf(cluster.pid());
  const ours: { running: number; login: number }[] = [];
  const bare: number[] = [];
  let oneMachineMiB = 0;
  let qemuMiB = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { running, login, recording } = await timeOurs(cluster);
    ours.push({ running, login });
    oneMachineMiB = residentMiBOf(cluster.pid());
    qemuMiB = residentMiBOf(cluster.guestPids()[0] ?? 0);
    await cluster.must('kubectl', ['delete', 'vm', 'hello']);
    bare.push(await timeBare(recording));
  }
  report({ ours, bare, idleMiB, oneMachineMiB, qemuMiB });
}

/** From the moment kubectl is called to the prompt in the guest's serial log. */
async function timeOurs(cluster: EmbeddedCluster): Promise<{ running: number; login: number; recording: Recording }> {
  const started = performance.now();
  await cluster.must('kubectl', ['create', '-f', 'examples/vm.yaml']);
  await cluster.until('vmi/hello', '.status.phase', 'Running');
  const running = performance.now() - started;
  const [pid = 0] = cluster.guestPids();
  const recording = record(pid);
  await untilPrompt(join(readlinkSync(`/proc/${pid}/cwd`), SERIAL_LOG));
  return { running, login: performance.now() - started, recording };
}

/** The copy lies as deep as the original, so that QEMU's relative paths hold; the guest has hardly written to its overlay by then. */
function record(pid: number): Recording {
  const original = readlinkSync(`/proc/${pid}/cwd`);
  const argv = argumentsOf(pid);
  const [, kubelet = '', uid = '', rest = ''] = /^(.*)\/pods\/([^/]+)\/(.*)$/.exec(original) ?? [];
  const copy = join(kubelet, 'bench', uid);
  cpSync(join(kubelet, 'pods', uid), copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.sock') && !path.endsWith('.log'),
  });
  return { argv, cwd: join(copy, rest), remove: () => rmSync(copy, { recursive: true, force: true }) };
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
    ...occasion(),
    rounds: ROUNDS,
    bareLoginMs: bareLogin,
    oursRunningMs: oursRunning,
    oursLoginMs: oursLogin,
    ratio: ratio(oursLogin, bareLogin),
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

/**
 * How long a machine takes to be suspended and to go on (beside the same QEMU, started by hand with the same memory), and from "start" to the
 * first answer by HTTP: of a machine that goes on from a snapshot with memory, and of one that boots.
 */
import { spawn } from 'node:child_process';
import { closeSync, createWriteStream, globSync, openSync, readSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { QMP_SOCKET } from '../../../src/api/launcher/files.ts';
import { MEMORY_DESCRIPTOR } from '../../../src/api/launcher/suspension.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { isObject } from '../../../src/base/json.ts';
import { connectQmp, type QmpClient } from '../../../src/qemu/qmp/client.ts';
import { EmbeddedCluster } from '../../e2e/harness.ts';
import { argumentsOf, type Recording, record } from '../bare-qemu.ts';
import { median } from '../figures.ts';
import { type DiskBenchOptions, type DiskRow, timed } from './row.ts';

const VM = 'sleeper';
const HEAD_BYTES = 4096;
const PATIENCE_MS = 120_000;
const LOOK_MS = 10;

export async function measureMemory({ rounds }: DiskBenchOptions): Promise<DiskRow[]> {
  await using cluster = await EmbeddedCluster.start();
  const rows: DiskRow[] = [];
  for (const memoryMiB of [128, 512]) rows.push(...(await suspendAndResume(cluster, memoryMiB, rounds)));
  return [...rows, ...(await warmStart(cluster, rounds))];
}

function machine(name: string, memoryMiB: number): object[] {
  const devices = { disks: [{ name: 'root', disk: { bus: 'virtio' } }] };
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: name } }];
  const annotations = { 'kubevirt.io/disk-image': 'localhost/guests/tiny:latest' };
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, annotations },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } },
    },
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { name },
      spec: { runStrategy: 'Always', template: { spec: { domain: { memory: { guest: `${memoryMiB}Mi` }, devices }, volumes } } },
    },
  ];
}

async function make(cluster: EmbeddedCluster, name: string, memoryMiB: number): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: machine(name, memoryMiB) };
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(list) });
  await cluster.untilCondition(`vmi/${name}`, 'AgentConnected');
}

async function remove(cluster: EmbeddedCluster, name: string): Promise<void> {
  await cluster.must('kubectl', ['delete', 'vm', name]);
  await cluster.must('kubectl', ['delete', 'pvc', name, '--ignore-not-found']);
}

async function suspendAndResume(cluster: EmbeddedCluster, memoryMiB: number, rounds: number): Promise<DiskRow[]> {
  await make(cluster, VM, memoryMiB);
  const status = (word: string) => cluster.until(`vm/${VM}`, '.status.printableStatus', word);
  const [saves, resumes]: [number[], number[]] = [[], []];
  const byHand: { loadMs: number; saveMs: number }[] = [];
  let recording: Recording | undefined;
  for (let round = 0; round < rounds; round++) {
    saves.push(await timed(() => Promise.all([cluster.must('virtctl', ['suspend', VM]), status('Suspended')])));
    await cluster.untilGone(`vmi/${VM}`);
    if (recording) byHand.push(await loadAndSaveByHand(cluster, recording));
    resumes.push(await timed(() => Promise.all([cluster.must('virtctl', ['resume', VM]), status('Running')])));
    recording ??= record(qemuOf(cluster));
    await cluster.untilCondition(`vmi/${VM}`, 'AgentConnected');
  }
  recording?.remove();
  await remove(cluster, VM);
  const beside = (of: 'loadMs' | 'saveMs') =>
    byHand.length > 0 ? { beside: { name: 'QEMU by hand', value: median(byHand.map((each) => each[of])) } } : {};
  return [
    { name: `suspend of ${memoryMiB} MiB, until the machine is Suspended`, ours: median(saves), ...beside('saveMs'), unit: 'ms' },
    {
      name: `resume of ${memoryMiB} MiB, until the guest goes on`,
      ours: median(resumes),
      ...beside('loadMs'),
      unit: 'ms',
      aim: 'at most 1 s',
    },
  ];
}

function qemuOf(cluster: EmbeddedCluster): number {
  const found = cluster.guestPids().find((pid) => argumentsOf(pid)[0]?.includes('qemu-system'));
  if (found === undefined) throw new Error('no guest runs');
  return found;
}

/** The QEMU of an instance that was resumed, once more, with the memory that is there now, which it saves again. Its guest does not run: the disk is that of the machine. */
async function loadAndSaveByHand(cluster: EmbeddedCluster, { argv, cwd }: Recording): Promise<{ loadMs: number; saveMs: number }> {
  const [path] = globSync(join(cluster.home, 'volumes/*/memory'));
  if (path === undefined) throw new Error('no memory is saved');
  const file = openSync(path, 'r');
  readSync(file, Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, null); // the rest is QEMU's
  const [program = '', ...args] = argv;
  const begin = performance.now();
  const child = spawn(program, args, { cwd, stdio: [file, 'ignore', 'ignore'] });
  closeSync(file);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    const qmp = await connected(join(cwd, QMP_SOCKET));
    await qmp.execute('migrate-incoming', { uri: `fd:${MEMORY_DESCRIPTOR}` });
    for (;;) {
      const answer = await qmp.execute('query-status');
      if (isObject(answer) && answer['status'] !== 'inmigrate') break;
      await systemClock.sleep(LOOK_MS);
    }
    const loadMs = performance.now() - begin;
    return { loadMs, saveMs: await timed(() => saveByHand(qmp, join(cluster.home, 'by-hand'))) };
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** To a socket, because its sandbox starts no programs; what arrives is on the disk when it is over. */
async function saveByHand(qmp: QmpClient, path: string): Promise<void> {
  const taken = Promise.withResolvers<void>();
  const server = createServer(
    (socket) => void pipeline(socket, createWriteStream(path, { flush: true })).then(taken.resolve, taken.reject),
  );
  await new Promise<void>((resolve) => server.listen(`${path}.sock`, resolve));
  try {
    await qmp.execute('migrate', { uri: `unix:${path}.sock` });
    await taken.promise;
  } finally {
    server.close();
    rmSync(path, { force: true });
  }
}

async function connected(path: string): Promise<QmpClient> {
  for (const deadline = performance.now() + PATIENCE_MS; ; await systemClock.sleep(LOOK_MS)) {
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      return await connectQmp({ path, signal, onEvent: () => {}, clock: systemClock, timeoutMs: PATIENCE_MS });
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

async function warmStart(cluster: EmbeddedCluster, rounds: number): Promise<DiskRow[]> {
  await make(cluster, 'first', 128);
  const keeps = await timed(() => cluster.must('virtctl', ['snapshot', '--memory', 'first', 'warm']));
  await cluster.must('virtctl', ['stop', 'first']);
  await cluster.until('vm/first', '.status.printableStatus', 'Stopped');
  const [boots, warm, whole]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    boots.push(await untilAnswered(cluster, 'first', ['start', 'first']));
    await cluster.must('virtctl', ['stop', 'first']);
    await cluster.until('vm/first', '.status.printableStatus', 'Stopped');
    await cluster.must('virtctl', ['clone', '--snapshot', 'warm', 'first', 'made']);
    warm.push(await untilAnswered(cluster, 'made', ['start', 'made']));
    whole.push(await untilAnswered(cluster, 'both', ['clone', '--snapshot', 'warm', '--start', 'first', 'both']));
    for (const name of ['made', 'both']) await remove(cluster, name);
  }
  const beside = { name: 'the machine boots', value: median(boots) };
  const aim = 'at most 1 s, or a tenth of a boot';
  return [
    { name: 'snapshot with memory, until it is taken', ours: keeps, unit: 'ms' },
    { name: 'start of a warm machine to its first answer by HTTP', ours: median(warm), beside, unit: 'ms', aim },
    { name: 'clone and start of a warm machine to its first answer by HTTP', ours: median(whole), beside, unit: 'ms', aim },
  ];
}

/** From the command to the first answer of the guest, at a port of this machine. */
async function untilAnswered(cluster: EmbeddedCluster, name: string, words: readonly string[]): Promise<number> {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { type: 'NodePort', selector: { 'vm.kubevirt.io/name': name }, ports: [{ port: 80 }] },
  };
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(service) });
  const port = await cluster.field('service', name, '.spec.ports[0].nodePort');
  try {
    return await timed(() => Promise.all([cluster.must('virtctl', words), answered(`http://127.0.0.1:${port}/`)]));
  } finally {
    await cluster.must('kubectl', ['delete', 'service', name]);
  }
}

async function answered(url: string): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; ; await systemClock.sleep(LOOK_MS)) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
      await response.text();
      if (response.ok) return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

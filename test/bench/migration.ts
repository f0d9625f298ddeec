/**
 * A guest that is moved: how long it takes from the moment its target is ready, how long it stands still, what is sent and what that costs; beside the
 * same two QEMUs, the same commands to them, joined by a unix socket with nobody in between. `--only TEXT` chooses among the guests.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readlinkSync, readSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type VirtualMachineInstance, VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { INCOMING_SOCKETS, OUTGOING_SOCKETS, QMP_SOCKET, SERIAL_LOG } from '../../src/api/launcher/files.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createClient } from '../../src/client/client.ts';
import { loadKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { copiedDisksOf } from '../../src/qemu/convert/copied-disks.ts';
import { connectQmp } from '../../src/qemu/qmp/client.ts';
import { letArrive, receiveGuest } from '../../src/virt-handler/migration/receive-guest.ts';
import { sendGuest } from '../../src/virt-handler/migration/send-guest.ts';
import { noDumps } from '../../src/virt-handler/no-dumps.testing.ts';
import { News } from '../../src/virt-handler/vmi/news.ts';
import { EmbeddedCluster } from '../e2e/harness.ts';
import { type Recording, record } from './bare-qemu.ts';
import { cpuMsOf, occasion, ratio, seconds } from './figures.ts';

type Config = { readonly memoryMiB: number; readonly writes: boolean; readonly diskMiB: number };
type Figures = { readonly totalMs: number; readonly stoppedMs: number; readonly cpuMs: number };
type Ours = Figures & { readonly outsideMs: number; readonly sentMiB: number };

const CONFIGS: readonly Config[] = [128, 512].flatMap((memoryMiB) =>
  [false, true].flatMap((writes) => [0, 64].map((diskMiB) => ({ memoryMiB, writes, diskMiB }))),
);
const VIRTCTL = join(import.meta.dirname, '../../bin/virtctl');
const NAME = 'mover';
const LOOK_MS = 2;
const PATIENCE_MS = 240_000;
const PORT = 8080;
/** As ours are, where nobody says otherwise. */
const LIMITS = {
  msPerGiB: 150_000,
  progressMs: 150_000,
  downtimeMs: 300,
  bytesPerSecond: undefined,
  isSlowedDown: false,
  mayStandStill: false,
};

export async function benchmark(args: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { only: { type: 'string', default: '' } } });
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny'], nodes: 2 });
  const rows: object[] = [];
  console.log(
    'guest                           | total ours | by hand | stopped ours | by hand | seen outside | sent    | CPU ours | by hand',
  );
  for (const config of CONFIGS.filter((each) => titleOf(each).includes(values.only))) {
    const { ours, byHand } = await compare(cluster, config);
    const isAsPromised = ours.totalMs <= 1.3 * byHand.totalMs + 1000 && ours.stoppedMs <= byHand.stoppedMs + 100;
    rows.push({ ...config, ours, byHand, ratio: ratio(ours.totalMs, byHand.totalMs), isAsPromised });
    const cells = [
      titleOf(config).padEnd(31),
      seconds(ours.totalMs),
      seconds(byHand.totalMs),
      `${ours.stoppedMs} ms`,
      `${byHand.stoppedMs} ms`,
    ];
    console.log([...cells, `${ours.outsideMs} ms`, `${ours.sentMiB} MiB`, `${ours.cpuMs} ms`, `${byHand.cpuMs} ms`].join(' | '));
  }
  console.log(JSON.stringify({ benchmark: 'migration', ...occasion(), rows }));
}

function titleOf({ memoryMiB, writes, diskMiB }: Config): string {
  return `${memoryMiB} MiB, ${writes ? 'writing' : 'idle'}, ${diskMiB} MB of disk`;
}

async function compare(cluster: EmbeddedCluster, config: Config): Promise<{ readonly ours: Ours; readonly byHand: Figures }> {
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: JSON.stringify(machine(config)) });
  await cluster.until(`vmi/${NAME}`, '.status.phase', 'Running');
  const source = record(onlyGuest(cluster));
  await untilTicking(logOf(onlyGuest(cluster)));
  const target = await recordTarget(cluster);
  const ours = await moveOurs(cluster);
  const vmi: VirtualMachineInstance = JSON.parse(await cluster.must('kubectl', ['get', 'vmi', NAME, '-o', 'json']));
  await cluster.must('kubectl', ['delete', 'vm', NAME]);
  return { ours, byHand: await moveByHand({ source, target, disks: copiedDisksOf(vmi.spec), config }) };
}

/** A move that nobody measures: what the QEMU of a target is started with. */
async function recordTarget(cluster: EmbeddedCluster): Promise<Recording> {
  const before = cluster.guestPids();
  await cluster.must('virtctl', ['migrate', NAME]);
  const found = await until('the QEMU of the target', () => cluster.guestPids().find((pid) => !before.includes(pid) && isQemu(pid)));
  const recording = record(found);
  await cluster.must('kubectl', ['wait', 'vmim', '--all', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=240s']);
  await until('the end of the source', () => cluster.guestPids().filter(isQemu).length === 1 || undefined);
  return recording;
}

async function moveOurs(cluster: EmbeddedCluster): Promise<Ours> {
  const first = onlyGuest(cluster);
  const ticks = new Ticks([logOf(first)]);
  const outside = await askOutside(cluster);
  const { server, ...kubeconfig } = loadKubeconfig(join(cluster.home, 'kubeconfig'));
  const client = createClient({ fetch: createTlsFetch({ server, ...kubeconfig }), baseUrl: server, userAgent: 'bench' });
  const known = (await client.get(VMIS, { namespace: 'default', name: NAME }))?.status?.migrationState?.migrationUid;
  const stop = new AbortController();
  const sentBefore = cpuMsOf(cluster.pid());
  const moving = cluster.must('virtctl', ['migrate', NAME]);
  const joined = until('the QEMU of the target', () => cluster.guestPids().find((pid) => pid !== first && isQemu(pid))).then((pid) =>
    ticks.alsoIn(logOf(pid)),
  );
  let [readyAt, sentMiB] = [0, 0];
  for await (const event of client.watch(VMIS, { namespace: 'default', fieldSelector: `metadata.name=${NAME}`, signal: stop.signal })) {
    if (event.type === 'BOOKMARK') continue;
    const state = event.object.status?.migrationState;
    if (!state || state.migrationUid === known) continue;
    if (state.targetNodeAddress !== undefined && readyAt === 0) readyAt = performance.now();
    if (state.progress?.bytesDone) sentMiB = Math.max(sentMiB, Math.round(state.progress.bytesDone / 2 ** 20));
    if (state.failed) throw new Error(state.failureReason);
    if (state.targetNodeDomainReadyTimestamp !== undefined) break;
  }
  const totalMs = performance.now() - readyAt;
  const cpuMs = cpuMsOf(cluster.pid()) - sentBefore;
  stop.abort();
  await Promise.all([moving, joined]);
  await ticks.next();
  return { totalMs: Math.round(totalMs), stoppedMs: ticks.end(), outsideMs: await outside.end(), sentMiB, cpuMs };
}

type ByHand = { readonly source: Recording; readonly target: Recording; readonly disks: readonly string[]; readonly config: Config };

async function moveByHand({ source, target, disks, config }: ByHand): Promise<Figures> {
  const children = [source, target].map(({ argv: [program = '', ...args], cwd }) => spawn(program, args, { cwd, stdio: 'ignore' }));
  try {
    const [newsFrom, newsTo] = [new News(), new News()];
    const [from, to] = await Promise.all([connected(source.cwd, newsFrom), connected(target.cwd, newsTo)]);
    await untilTicking(join(source.cwd, SERIAL_LOG));
    const ticks = new Ticks([source, target].map(({ cwd }) => join(cwd, SERIAL_LOG)));
    const cpuBefore = cpuOf(children);
    const begin = performance.now();
    await receiveGuest({ qmp: to }, { name: 'receive', disks });
    for (const channel of ['memory', 'disks'] as const)
      symlinkSync(join(target.cwd, INCOMING_SOCKETS[channel]), join(source.cwd, OUTGOING_SOCKETS[channel]));
    const openWay = async () => ({ close: () => {}, agree: async () => {}, sendPrinted: async () => {}, connectAhead: async () => {} });
    const limits = { ...LIMITS, memoryBytes: config.memoryMiB * 2 ** 20 };
    const send = { name: 'send', disks, limits, runs: true, to: { host: '', port: 0, migrationUid: '' } } as const;
    await sendGuest(
      {
        qmp: from,
        clock: systemClock,
        news: newsFrom.signal,
        openWay,
        openStore: () => Promise.reject(new Error('nothing is saved')),
        dumps: noDumps,
        report: () => {},
      },
      send,
    );
    await letArrive({ qmp: to, clock: systemClock, news: newsTo.signal }, { name: 'arrive', runs: true });
    const totalMs = Math.round(performance.now() - begin);
    const cpuMs = cpuOf(children) - cpuBefore;
    await ticks.next();
    return { totalMs, stoppedMs: ticks.end(), cpuMs };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => child.exitCode ?? new Promise((resolve) => child.once('exit', resolve))));
    source.remove();
    target.remove();
  }
}

async function connected(cwd: string, news: News) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      const options = { path: join(cwd, QMP_SOCKET), signal: AbortSignal.timeout(PATIENCE_MS), onEvent: () => news.tell() };
      return await connectQmp({ ...options, clock: systemClock, timeoutMs: PATIENCE_MS });
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(LOOK_MS);
    }
  }
}

/** Ticks of a guest as they reach the logs of its QEMUs: the longest time between two is how long it stood still. */
class Ticks {
  readonly #paths: string[];
  #last = 0;
  #lastAt = performance.now();
  #longest = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(paths: readonly string[]) {
    this.#paths = [...paths];
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  alsoIn(path: string): void {
    this.#paths.push(path);
  }

  #look(): void {
    const latest = Math.max(...this.#paths.map(lastTick));
    if (latest <= this.#last) return;
    const now = performance.now();
    if (this.#last > 0) this.#longest = Math.max(this.#longest, now - this.#lastAt);
    [this.#last, this.#lastAt] = [latest, now];
  }

  async next(): Promise<void> {
    const seen = this.#last;
    await until('another tick', () => this.#last > seen + 2 || undefined);
  }

  end(): number {
    clearInterval(this.#timer);
    return Math.round(this.#longest);
  }
}

const TAIL_BYTES = 128;

function lastTick(path: string): number {
  try {
    const { size } = statSync(path);
    const file = openSync(path, 'r');
    const tail = Buffer.alloc(TAIL_BYTES);
    try {
      readSync(file, tail, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES));
    } finally {
      closeSync(file);
    }
    return Math.max(0, ...[...tail.toString('latin1').matchAll(/tick (\d+) end/g)].map(([, tick]) => Number(tick)));
  } catch {
    return 0; // not there yet
  }
}

/** One client that asks the guest for a page all the time, through a port that virtctl listens at. */
async function askOutside(cluster: EmbeddedCluster): Promise<{ end(): Promise<number> }> {
  const child = spawn(VIRTCTL, ['port-forward', `vm/${NAME}`, `0:${PORT}`], {
    env: cluster.environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const port = await until('the port', () => /forwarding tcp \S+:(\d+) to/.exec(said)?.[1]);
  let [isOver, lastAt, longest] = [false, performance.now(), 0];
  const asking = (async () => {
    while (!isOver) {
      const isAnswered = await fetch(`http://127.0.0.1:${port}/etc/hostname`, {
        signal: AbortSignal.timeout(500),
        headers: { connection: 'close' },
      })
        .then((response) => response.arrayBuffer())
        .then(
          () => true,
          () => false,
        );
      if (isAnswered) {
        longest = Math.max(longest, performance.now() - lastAt);
        lastAt = performance.now();
      }
      await sleep(LOOK_MS);
    }
  })();
  return {
    async end() {
      const before = lastAt;
      await until('an answer', () => lastAt > before || undefined);
      isOver = true;
      await asking;
      child.kill('SIGTERM');
      return Math.round(longest);
    },
  };
}

function machine({ memoryMiB, writes, diskMiB }: Config): object {
  const fill = diskMiB > 0 ? `dd if=/dev/urandom of=/dev/vdb bs=1M count=${diskMiB} conv=fsync 2>/dev/null` : ':';
  const write = 'while :; do n=$((n+1)); yes $n | head -c 20000000 > /dev/shm/written; sleep 1; done';
  const userData = `#!/bin/sh
${fill}
mkdir -p /dev/shm; mount -t tmpfs none /dev/shm
httpd -p ${PORT} -h /
${writes ? `(${write}) &` : ''}
(while :; do i=$((i+1)); echo "tick $i end" > /dev/ttyS0; sleep 0.02; done) &
`;
  const disk = (name: string) => ({ name, disk: { bus: 'virtio' } });
  const domain = {
    memory: { guest: `${memoryMiB}Mi` },
    devices: { disks: ['root', 'data', 'seed'].map(disk), interfaces: [{ name: 'default', masquerade: {} }] },
  };
  const volumes = [
    { name: 'root', containerDisk: { image: 'localhost/guests/tiny' } },
    { name: 'data', emptyDisk: { capacity: `${Math.max(1, diskMiB)}Mi` } },
    { name: 'seed', cloudInitNoCloud: { userData } },
  ];
  const spec = { terminationGracePeriodSeconds: 0, domain, networks: [{ name: 'default', pod: {} }], volumes };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: NAME },
    spec: { runStrategy: 'Always', template: { spec } },
  };
}

async function untilTicking(log: string): Promise<void> {
  await until('the first ticks', () => lastTick(log) > 20 || undefined);
}

async function until<Found>(what: string, find: () => Found | undefined): Promise<Found> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(LOOK_MS);
  }
}

function onlyGuest(cluster: EmbeddedCluster): number {
  const [pid, ...others] = cluster.guestPids().filter(isQemu);
  if (pid === undefined || others.length > 0) throw new Error(`there are ${others.length + 1} guests`);
  return pid;
}

function isQemu(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('qemu-system');
  } catch {
    return false; // ended meanwhile
  }
}

function logOf(pid: number): string {
  return join(readlinkSync(`/proc/${pid}/cwd`), SERIAL_LOG);
}

function cpuOf(children: readonly ChildProcess[]): number {
  return children.reduce((sum, { pid }) => sum + (pid === undefined ? 0 : cpuMsOf(pid)), 0);
}

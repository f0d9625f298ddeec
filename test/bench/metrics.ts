/**
 * What measuring costs: looks at real guests (QEMU without a system in it: what is asked is the same), with a step of their history each, in processor time of
 * virt-handler per guest and second; and /metrics of 1,000 machines, simulated. QEMU's own part is told beside it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MEASURED_EVERY_SECONDS } from '../../src/api/handler/usage-history.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { MetricFamilies } from '../../src/base/metrics.ts';
import { renderMetrics } from '../../src/base/node/metrics-page.ts';
import { SANDBOX_VARIABLE } from '../../src/base/node/sandbox-path.ts';
import { startQemu, waitUntil } from '../../src/qemu/qmp/qemu.testing.ts';
import { vm, vmi } from '../../src/testing/builders.ts';
import { numberOfVms, VM_FAMILIES, VMI_FAMILIES } from '../../src/virt-controller/metrics/vm-families.ts';
import { publicFolder } from '../../src/virt-handler/guest.testing.ts';
import { addGuestFamilies } from '../../src/virt-handler/metrics/guest-families.ts';
import { type GuestFigures, readDisks, readNetworks } from '../../src/virt-handler/metrics/guest-figures.ts';
import { GuestMeter } from '../../src/virt-handler/metrics/guest-meter.ts';
import { PodProcesses } from '../../src/virt-handler/metrics/pod-processes.ts';
import { UsageHistories } from '../../src/virt-handler/metrics/usage-histories.ts';
import { Domains } from '../../src/virt-handler/vmi/domains.ts';
import { cpuMsOf, median, occasion } from './figures.ts';

const MACHINES = 1000;
const LOOKS = 200;

export async function benchmark(args: readonly string[]): Promise<void> {
  const { guests } = parseArgs({ args: [...args], options: { guests: { type: 'string', default: '10' } } }).values;
  const figures = { ...(await costOfLooks(Number(guests))), ...(await costOfScrapes()), ...occasion() };
  console.log(`metrics, ${figures.machine}, load ${figures.load}`);
  console.log(
    `  a look at a guest, with its history   ${figures.cpuMsPerLook} ms CPU of virt-handler, ${figures.qemuCpuMsPerLook} ms of QEMU`,
  );
  console.log(`  measuring, per guest                  ${figures.cpuMsPerSecond} ms CPU a second (aim: at most 1)`);
  console.log(`  /metrics of ${MACHINES} machines            ${figures.scrapeMs} ms, ${figures.series} series, ${figures.scrapeKiB} KiB`);
  console.log(JSON.stringify({ benchmark: 'metrics', ...figures }));
}

/** All guests are looked at again and again; a clock that runs ahead makes each look due. */
export async function costOfLooks(count: number) {
  const home = mkdtempSync(join(tmpdir(), 'kubevirt-ts-'));
  const endings: (() => unknown)[] = [() => rmSync(home, { recursive: true, force: true })];
  const context = { after: (end: () => unknown) => endings.unshift(end) } as never; // of a test context, what starting a QEMU calls
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const domains = new Domains({ kubeletRoot: home, clock, log: silentLogger, takesConnection: async () => undefined });
  endings.unshift(() => domains.close());
  try {
    const pids: number[] = [];
    for (let index = 0; index < count; index++) {
      const podUid = crypto.randomUUID();
      const folder = publicFolder(home, podUid);
      mkdirSync(folder, { recursive: true });
      process.env[SANDBOX_VARIABLE] = folder; // by which its processes are found
      writeFileSync(join(folder, 'root.img'), Buffer.alloc(1024 * 1024));
      const blockdev = JSON.stringify({ driver: 'raw', 'node-name': 'image0', file: { driver: 'file', filename: 'root.img' } });
      const devices = ['-device', 'virtio-blk-pci,id=disk0,drive=image0', '-device', 'virtio-balloon-pci,id=balloon0'];
      pids.push((await startQemu(context, { machine: 'q35', isPaused: true, folder, args: ['-blockdev', blockdev, ...devices] })).pid);
      const metadata = { name: `vm-${index}`, uid: podUid, ownerReferences: [] };
      domains.act({ do: 'follow', podUid, because: 'it is to be measured' }, vmi('Running', {}, metadata));
    }
    await waitUntil(() => domains.guests().every(({ session }) => session.domain.isConnected), 'the sessions', 60_000);
    const processes = new PodProcesses({ kubeletRoot: home, clock });
    const meter = new GuestMeter({ domains, processes, clock, log: silentLogger });
    const histories = new UsageHistories({ folder: join(home, 'usage-history'), clock, log: silentLogger });
    const look = async () => {
      aheadMs += MEASURED_EVERY_SECONDS * 1000;
      const measured = await meter.figures();
      const byName = new Map(measured.map((each) => [each.vmi.metadata.name, each.figures]));
      await Promise.all(
        domains.guests().flatMap((guest) => {
          const now = byName.get(guest.vmi.metadata.name);
          return now ? [histories.add(guest, now, { ...now, atMs: now.atMs - 20_000 })] : [];
        }),
      );
      return measured.length;
    };
    for (let warm = 0; warm < 20; warm++) await look();
    const [cpu, qemu] = [process.cpuUsage(), sum(pids.map(cpuMsOf))];
    let looks = 0;
    for (let round = 0; round < LOOKS; round++) looks += await look();
    const { user, system } = process.cpuUsage(cpu);
    const cpuMsPerLook = (user + system) / 1000 / looks;
    return {
      guests: count,
      cpuMsPerLook: round3(cpuMsPerLook),
      qemuCpuMsPerLook: round3((sum(pids.map(cpuMsOf)) - qemu) / looks),
      cpuMsPerSecond: round3(cpuMsPerLook / MEASURED_EVERY_SECONDS),
    };
  } finally {
    delete process.env[SANDBOX_VARIABLE];
    for (const end of endings) await end();
  }
}

export async function costOfScrapes() {
  const metrics = new MetricFamilies();
  const named = Array.from({ length: MACHINES }, (_, index) => ({ name: `machine-${index}`, namespace: `team-${index % 10}` }));
  const vms = named.map((each) => vm('Always', { printableStatus: 'Running' }, each));
  const vmis = named.map((each) => vmi('Running', { nodeName: 'n1', interfaces: [{ name: 'default', ipAddress: '10.244.0.5' }] }, each));
  for (const { samplesOf, ...family } of VM_FAMILIES)
    metrics.add({ ...family, type: 'gauge', samples: () => vms.flatMap((each) => samplesOf(each)) });
  for (const { samplesOf, ...family } of VMI_FAMILIES)
    metrics.add({ ...family, type: 'gauge', samples: () => vmis.flatMap((each) => samplesOf(each)) });
  metrics.add({ name: 'kubevirt_number_of_vms', help: 'Machines in each namespace.', type: 'gauge', samples: () => numberOfVms(vms) });
  const figures: GuestFigures = {
    atMs: 0,
    process: { userSeconds: 1.5, systemSeconds: 0.5, residentBytes: 2 ** 28 },
    balloonBytes: 2 ** 28,
    memory: {
      availableBytes: 5,
      usableBytes: 2,
      unusedBytes: 1,
      cachedBytes: 1,
      swapInBytes: 0,
      swapOutBytes: 0,
      majorFaults: 1,
      minorFaults: 1,
    },
    disks: readDisks(
      [0, 1].map((index) => ({ qdev: `/machine/peripheral/disk${index}`, stats: { rd_bytes: 7 } })),
      ['root', 'data'],
    ),
    networks: readNetworks([{ 'hardware-address': '02:01', statistics: {} }], new Map([['02:01', 'default']])),
    vcpus: [{ id: 0, state: 'running', seconds: 1, delaySeconds: 1 }],
    fileSystems: [{ diskName: 'vda1', mountPoint: '/', fileSystemType: 'ext4', usedBytes: 1, totalBytes: 2 }],
  };
  const measured = vmis.map((each) => ({ vmi: each, figures }));
  addGuestFamilies({ metrics, nodeName: 'n1', figures: async () => measured, signal: new AbortController().signal });
  const times: number[] = [];
  let text = '';
  for (let round = 0; round < 11; round++) {
    const startedMs = performance.now();
    ({ text } = await renderMetrics(metrics));
    if (round > 0) times.push(performance.now() - startedMs);
  }
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  return { machines: MACHINES, scrapeMs: median(times), series, scrapeKiB: Math.round(text.length / 1024) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round3(value: number): number {
  return Math.round(value * 1000) / 1000;
}

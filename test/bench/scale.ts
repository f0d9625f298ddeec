/**
 * How many machines a second the real API server, scheduler and virt-controller start, all at once, on nodes that are simulated.
 * `--machines N` chooses how many: the CPU time and the memory of one must not depend on it. With `--instancetype u1.nano` they are of
 * that size, each with its own copy of it, in the place of plain ones. `--pool N` measures one pool of N instead: scaled from none,
 * rolled a tenth at a time, and scaled in to a tenth. It runs in a process with the flags of the embedded cluster: memory is a figure of both.
 */
import { spawnSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../src/base/clock.ts';
import { LOOK_MS, runMemoryRelease } from '../../src/cmd/embedded/release-memory.ts';
import { LESS_MEMORY, NODE_FLAGS } from '../../src/virtctl/embedded/launch.ts';
import { defineMachines } from '../integration/scale/machines.ts';
import { runPool } from '../integration/scale/pool.ts';
import { startSimulatedCluster } from '../integration/scale/simulated-cluster.ts';

const DEFAULT_MACHINES = 1_000;
const TIMEOUT_MS = 1_800_000;
/** Until what was made on the way is given back. */
const CALM_MS = 4 * LOOK_MS;

export async function benchmark(args: readonly string[] = []): Promise<void> {
  if (!NODE_FLAGS.every((flag) => process.execArgv.includes(flag))) return runAsEmbedded();
  const { machines, instancetype, pool } = chosen(args);
  if (pool !== undefined) return benchmarkPool(pool);
  await using cluster = await startSimulatedCluster({ nodes: Math.ceil(machines / 100) + 1 });
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  void runMemoryRelease({ clock: systemClock, signal }); // as the embedded cluster does
  await sleep(CALM_MS);
  const emptyMiB = residentMiB();
  const emptyHeapMiB = heapInUseMiB();
  const { start } = await defineMachines(cluster.client, { count: machines, signal, ...(instancetype && { instancetype }) });
  const definedMiB = residentMiB();
  cluster.writes.length = 0;
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  await start();
  const startMs = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpuBefore);
  const runningMiB = residentMiB();
  await sleep(CALM_MS);
  const calmMiB = residentMiB();
  const perMachineKiB = (grownMiB: number) => Math.round((grownMiB * 1024) / machines);
  over.abort();
  const figures = {
    benchmark: 'scale',
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    load: Number(loadavg()[0]?.toFixed(1)),
    machines,
    ...(instancetype && { instancetype }),
    startSeconds: Number((startMs / 1000).toFixed(1)),
    startsPerSecond: Math.round((machines / startMs) * 1000),
    cpuSeconds: Number(((user + system) / 1e6).toFixed(1)),
    cpuMsPerStart: Number(((user + system) / 1000 / machines).toFixed(1)),
    writesPerStart: Number((cluster.writes.length / machines).toFixed(1)),
    retriedWrites: cluster.writes.filter(({ code }) => code === 409).length,
    emptyMiB,
    definedMiB,
    runningMiB,
    calmMiB,
    largestMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    residentKiBPerMachine: perMachineKiB(calmMiB - emptyMiB),
    inUseKiBPerMachine: perMachineKiB(heapInUseMiB() - emptyHeapMiB),
  };
  const kind = instancetype ? ` of ${instancetype}` : '';
  console.log(`${machines} machines${kind}, all started at once     ${figures.startSeconds} s, of CPU time ${figures.cpuSeconds} s`);
  console.log(`starts per second                     ${figures.startsPerSecond}`);
  console.log(`CPU time per start                    ${figures.cpuMsPerStart} ms`);
  console.log(`writes per start, everybody's         ${figures.writesPerStart}, ${figures.retriedWrites} done again in all`);
  console.log(`resident: empty, defined              ${emptyMiB}, ${definedMiB} MiB`);
  console.log(`  all running, and calm again         ${runningMiB}, ${calmMiB} MiB, at most ${figures.largestMiB} MiB`);
  console.log(
    `of a running machine                  ${figures.residentKiBPerMachine} KiB resident, ${figures.inUseKiBPerMachine} KiB in use`,
  );
  console.log(JSON.stringify(figures));
}

function runAsEmbedded(): void {
  const env = { ...process.env, ...LESS_MEMORY };
  process.exitCode = spawnSync(process.execPath, [...NODE_FLAGS, ...process.argv.slice(1)], { stdio: 'inherit', env }).status ?? 1;
}

async function benchmarkPool(machines: number): Promise<void> {
  await using cluster = await startSimulatedCluster({ nodes: Math.ceil(machines / 100) + 2 });
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const cpuBefore = process.cpuUsage();
  const run = await runPool(cluster.client, { count: machines, keep: Math.ceil(machines / 10), signal });
  const { user, system } = process.cpuUsage(cpuBefore);
  over.abort();
  const seconds = (ms: number) => Number((ms / 1000).toFixed(1));
  const figures = {
    benchmark: 'scale',
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    load: Number(loadavg()[0]?.toFixed(1)),
    pool: machines,
    scaleSeconds: seconds(run.scaleMs),
    rollSeconds: seconds(run.rollMs),
    scaleInSeconds: seconds(run.scaleInMs),
    fewestReady: run.fewestReady,
    left: run.left.length,
    cpuSeconds: seconds((user + system) / 1000),
    writes: cluster.writes.length,
    retriedWrites: cluster.writes.filter(({ code }) => code === 409).length,
  };
  console.log(`a pool of ${machines}, from none to all ready      ${figures.scaleSeconds} s`);
  console.log(`rolled, a tenth at a time             ${figures.rollSeconds} s, never fewer than ${figures.fewestReady} ready`);
  console.log(`scaled in to ${figures.left}                       ${figures.scaleInSeconds} s`);
  console.log(`CPU time of all three                 ${figures.cpuSeconds} s`);
  console.log(`writes, everybody's                   ${figures.writes}, ${figures.retriedWrites} of them refused because of another`);
  console.log(JSON.stringify(figures));
}

type Choice = { readonly machines: number; readonly instancetype: string | undefined; readonly pool: number | undefined };

function chosen(args: readonly string[]): Choice {
  const options = { machines: { type: 'string' }, instancetype: { type: 'string' }, pool: { type: 'string' } } as const;
  const { machines = DEFAULT_MACHINES, instancetype, pool } = parseArgs({ args: [...args], options }).values;
  return { machines: Number(machines), instancetype, pool: pool === undefined ? undefined : Number(pool) };
}

function residentMiB(): number {
  return Math.round(process.memoryUsage().rss / 2 ** 20);
}

/** What is still needed of the heap: the rest of what is resident, the engine has not given back yet. */
function heapInUseMiB(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

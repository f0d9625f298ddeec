/**
 * How many machines a second the real API server, scheduler and virt-controller start, all at once, on nodes that are simulated.
 * `--machines N` chooses how many: the CPU time and the memory of one must not depend on it. With `--instancetype u1.nano` they are of
 * that size, each with its own copy of it, in the place of plain ones.
 */
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { defineMachines } from '../integration/scale/machines.ts';
import { startSimulatedCluster } from '../integration/scale/simulated-cluster.ts';

const DEFAULT_MACHINES = 1_000;
const TIMEOUT_MS = 600_000;

export async function benchmark(args: readonly string[] = []): Promise<void> {
  const { machines, instancetype } = chosen(args);
  await using cluster = await startSimulatedCluster({ nodes: Math.ceil(machines / 100) + 1 });
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(TIMEOUT_MS)]);
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
    largestMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    residentKiBPerMachine: perMachineKiB(runningMiB - emptyMiB),
    inUseKiBPerMachine: perMachineKiB(heapInUseMiB() - emptyHeapMiB),
  };
  const kind = instancetype ? ` of ${instancetype}` : '';
  console.log(`${machines} machines${kind}, all started at once     ${figures.startSeconds} s, of CPU time ${figures.cpuSeconds} s`);
  console.log(`starts per second                     ${figures.startsPerSecond}`);
  console.log(`CPU time per start                    ${figures.cpuMsPerStart} ms`);
  console.log(`writes per start, everybody's         ${figures.writesPerStart}, ${figures.retriedWrites} done again in all`);
  console.log(`resident: empty, defined, running     ${emptyMiB}, ${definedMiB}, ${runningMiB} MiB, at most ${figures.largestMiB} MiB`);
  console.log(
    `of a running machine                  ${figures.residentKiBPerMachine} KiB resident, ${figures.inUseKiBPerMachine} KiB in use`,
  );
  console.log(JSON.stringify(figures));
}

function chosen(args: readonly string[]): { readonly machines: number; readonly instancetype: string | undefined } {
  const options = { machines: { type: 'string' }, instancetype: { type: 'string' } } as const;
  const { machines = DEFAULT_MACHINES, instancetype } = parseArgs({ args: [...args], options }).values;
  return { machines: Number(machines), instancetype };
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

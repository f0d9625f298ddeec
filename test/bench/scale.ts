/** How many machines a second the real API server, scheduler and virt-controller start, all at once, on nodes that are simulated. */
import { cpus, loadavg, totalmem } from 'node:os';
import { defineMachines } from '../integration/scale/machines.ts';
import { startSimulatedCluster } from '../integration/scale/simulated-cluster.ts';

const MACHINES = 1_000;
const TIMEOUT_MS = 600_000;

export async function benchmark(): Promise<void> {
  await using cluster = await startSimulatedCluster({ nodes: MACHINES / 100 + 1 });
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const emptyMiB = residentMiB();
  const { start } = await defineMachines(cluster.client, { count: MACHINES, signal });
  const definedMiB = residentMiB();
  cluster.writes.length = 0;
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  await start();
  const startMs = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpuBefore);
  over.abort();
  const figures = {
    benchmark: 'scale',
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    load: Number(loadavg()[0]?.toFixed(1)),
    machines: MACHINES,
    startSeconds: Number((startMs / 1000).toFixed(1)),
    startsPerSecond: Math.round((MACHINES / startMs) * 1000),
    cpuMsPerStart: Number(((user + system) / 1000 / MACHINES).toFixed(1)),
    writesPerStart: Number((cluster.writes.length / MACHINES).toFixed(1)),
    retriedWrites: cluster.writes.filter(({ code }) => code === 409).length,
    emptyMiB,
    definedMiB,
    runningMiB: residentMiB(),
  };
  console.log(`${MACHINES} machines, all started at once     ${figures.startSeconds} s`);
  console.log(`starts per second                     ${figures.startsPerSecond}`);
  console.log(`CPU time per start                    ${figures.cpuMsPerStart} ms`);
  console.log(`writes per start, everybody's         ${figures.writesPerStart}, ${figures.retriedWrites} done again in all`);
  console.log(`resident: empty, defined, running     ${figures.emptyMiB}, ${figures.definedMiB}, ${figures.runningMiB} MiB`);
  console.log(JSON.stringify(figures));
}

function residentMiB(): number {
  return Math.round(process.memoryUsage().rss / 2 ** 20);
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineMachines } from './machines.ts';
import { CONTROLLER, SIMULATED_NODES, startSimulatedCluster, type Write } from './simulated-cluster.ts';

/** The full number, 1000, is in the set of `npm run test:e2e`. */
const MACHINES = Number(process.env['SCALE_MACHINES'] ?? 50);
const MOST_RETRIES = 1;
const MOST_WRITES = 10;
const TIMEOUT_MS = 280_000;

/** How many of the writes each machine needed; an object that is not named in its path has no machine of its own. */
function perMachine(names: readonly string[], writes: readonly Write[]): Map<string, number> {
  const known = new Set(names);
  const counts = new Map<string, number>();
  for (const { path } of writes) {
    const name = /vm-\d{5}/.exec(path)?.[0] ?? '';
    const machine = known.has(name) ? name : 'unnamed';
    counts.set(machine, (counts.get(machine) ?? 0) + 1);
  }
  return counts;
}

test(`${MACHINES} machines that start at once all run, without a storm of conflicts`, { timeout: TIMEOUT_MS + 10_000 }, async (t) => {
  await using cluster = await startSimulatedCluster({ nodes: Math.ceil(MACHINES / 100) + 1 });
  const over = new AbortController();
  t.after(() => over.abort());
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const { names, start } = await defineMachines(cluster.client, { count: MACHINES, signal });
  cluster.writes.length = 0;
  await start();

  const refused = cluster.writes.filter(({ code }) => code === 409);
  const tooOften = [...perMachine(names, refused)].filter(([, retries]) => retries > MOST_RETRIES);
  assert.deepEqual(tooOften, [], 'writes that had to be done again, by machine');
  assert.deepEqual(
    cluster.writes.filter(({ code }) => code >= 400 && code !== 409),
    [],
  );
  const ours = cluster.writes.filter(
    ({ user, path }) => user === CONTROLLER || (user === SIMULATED_NODES && path.includes('virtualmachineinstances')),
  );
  const perStart = ours.length / MACHINES;
  assert.ok(perStart > 5 && perStart <= MOST_WRITES, `${perStart} writes of our components per start`);
});

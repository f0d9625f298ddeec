import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runPool } from './pool.ts';
import { CONTROLLER, startSimulatedCluster } from './simulated-cluster.ts';

/** The full number, 100, is in the set of `npm run test:e2e`. */
const MACHINES = Number(process.env['SCALE_POOL'] ?? 20);
const KEPT = MACHINES / 10;
const TIMEOUT_MS = 240_000;

test(`a pool of ${MACHINES} is scaled, rolled a tenth at a time and scaled in`, { timeout: TIMEOUT_MS + 10_000 }, async (t) => {
  await using cluster = await startSimulatedCluster({ nodes: 3 });
  const over = new AbortController();
  t.after(() => over.abort());
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const { fewestReady, left } = await runPool(cluster.client, { count: MACHINES, keep: KEPT, signal });
  assert.ok(fewestReady >= MACHINES * 0.9, `only ${fewestReady} were ready at the worst moment`);
  assert.equal(left.length, KEPT);
  // What is there twice or gone already is looked at again; everything else would be a mistake.
  const failed = cluster.writes.filter(({ user, code }) => user === CONTROLLER && code >= 400 && code !== 409 && code !== 404);
  assert.deepEqual(failed, []);
});

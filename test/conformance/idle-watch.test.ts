import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { Cluster } from './cluster.ts';
import { eventually } from './eventually.ts';

/** More than a minute in `npm run test:soak`. */
const IDLE_SECONDS = Number(process.env['WATCH_IDLE_SECONDS'] ?? 2);

test(`40: a watch on which nothing happens for ${IDLE_SECONDS} s still shows what happens then`, { timeout: 300_000 }, async (t) => {
  t.diagnostic(`${IDLE_SECONDS} s without a change`);
  await using cluster = await Cluster.start();
  const watching = cluster.spawnKubectl(['get', 'cm', '-w', '-o', 'name']);
  const lines: string[] = [];
  createInterface({ input: watching.stdout }).on('line', (line) => lines.push(line));
  await eventually(
    () => cluster.requests.some((url) => url.includes('watch=true')),
    () => 'for kubectl to watch',
  );
  const watches = () => cluster.requests.filter((url) => url.includes('configmaps') && url.includes('watch=true')).length;
  const before = watches();
  await new Promise((resolve) => setTimeout(resolve, IDLE_SECONDS * 1000)); // the wait is what is tested
  await cluster.must(['create', 'cm', 'late']);
  await eventually(
    () => lines.includes('configmap/late'),
    () => `for the late one after ${lines}`,
  );
  const ended = once(watching, 'exit');
  watching.kill('SIGINT');
  await ended;
  assert.equal(watches(), before);
});

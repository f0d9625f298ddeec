/** Many guests whose cluster is killed and comes back. Without a system in them: only QEMU has to run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from '../../e2e/harness.ts';

/** `npm run test:soak` asks for 50. */
const GUESTS = Number(process.env['ADOPTED_GUESTS'] ?? 6);
const NAMES = Array.from({ length: GUESTS }, (_, n) => `kept-${n}`);

test(`${GUESTS} guests run on when their cluster is killed, and each is adopted once, without a restart or another phase`, {
  timeout: 120_000 + GUESTS * 10_000,
}, async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const items = NAMES.map(machine);
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  for (const name of NAMES) await cluster.until(`vm/${name}`, '.status.printableStatus', 'Running');
  const path = 'jsonpath={range .items[*]}{.metadata.uid} {.status.phaseTransitionTimestamps}{"\\n"}{end}';
  const facts = () => cluster.must('kubectl', ['get', 'vmi', '-o', path]);
  const [before, guests] = [await facts(), cluster.guestPids()];
  assert.equal(guests.length, GUESTS);
  const log = join(cluster.home, 'logs/embedded.log');
  const logged = readFileSync(log, 'utf8').length;

  process.kill(cluster.pid(), 'SIGKILL');
  await cluster.must('virtctl', ['up']);
  // A question to each QEMU, which nobody but its virt-handler can ask.
  for (const name of NAMES) assert.match(await cluster.must('virtctl', ['vnc', 'screenshot', name, '--file', '-']), /PNG/, name);

  assert.deepEqual(cluster.guestPids(), guests);
  assert.equal(await facts(), before);
  const since = lines(readFileSync(log, 'utf8').slice(logged));
  const followed = since.filter(({ message }) => message === 'follow');
  assert.deepEqual(
    followed.map(({ object = '' }) => object.replace(/.*\//, '')).sort((a, b) => a.localeCompare(b)),
    NAMES.toSorted((a, b) => a.localeCompare(b)),
  );
  const last = Math.max(...followed.map(({ time }) => Date.parse(time)));
  t.diagnostic(
    `${GUESTS} guests: the last was adopted ${last - Date.parse(since[0]?.time ?? '')} ms after the first word of the new process`,
  );
});

function machine(name: string): object {
  const resources = { requests: { cpu: '10m' } }; // by the usual share a node of two processors has room for twenty
  const spec = { domain: { devices: {}, memory: { guest: '16Mi' }, resources } };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name }, spec: { runStrategy: 'Always', template: { spec } } };
}

function lines(text: string): { readonly time: string; readonly message: string; readonly object?: string }[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{')) // not what the shell says of a process that was killed
    .map((line) => JSON.parse(line));
}

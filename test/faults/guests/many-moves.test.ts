/** Machines that are moved back and forth leave nothing behind: no process, no socket, no file, no Pod beyond those that are kept, no memory of the cluster. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { residentMiBOf } from '../../bench/figures.ts';
import { EmbeddedCluster } from '../../e2e/harness.ts';
import { filesOfKubelets, qemus } from './moving-guest.ts';

/** `npm run test:soak` asks for more. */
const MOVES = Number(process.env['MANY_MOVES'] ?? 2);
const MACHINES = Number(process.env['MOVED_MACHINES'] ?? 1);
const NAMES = Array.from({ length: MACHINES }, (_, n) => `mover-${n}`);
/** So many migrations of an instance are kept, each with the Pod that was left, and there is the Pod that it is in. */
const PODS = MACHINES * (1 + Math.min(5, MOVES));
const ROOM_MIB = 64;
const LOOK_MS = 200;

test(`${MOVES} moves of ${MACHINES} machines leave nothing behind`, { timeout: 300_000 + MOVES * MACHINES * 60_000 }, async (t) => {
  await using cluster = await EmbeddedCluster.start({ nodes: 2 });
  await cluster.must('kubectl', ['create', '-f', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: NAMES.map(machine) }),
  });
  for (const name of NAMES) await cluster.untilCondition(`vmi/${name}`, 'LiveMigratable');
  await moveAll(cluster); // the first one loads what the others use
  const before = residues(cluster);
  for (let move = 1; move < MOVES; move += 1) await moveAll(cluster);
  const { MiB, descriptors, ...after } = residues(cluster);
  assert.deepEqual({ ...after, podFolders: 0 }, { sockets: before.sockets, qemus: MACHINES, podFolders: 0 });
  assert.ok(after.podFolders <= PODS, `${after.podFolders} folders of Pods`);
  assert.ok(descriptors <= before.descriptors + MACHINES, `${before.descriptors} open files became ${descriptors}`);
  assert.ok(MiB <= before.MiB + ROOM_MIB, `${before.MiB} MiB became ${MiB}`);
  t.diagnostic(`${before.MiB} MiB became ${MiB}, ${before.descriptors} open files ${descriptors}`);
});

async function moveAll(cluster: EmbeddedCluster): Promise<void> {
  await Promise.all(NAMES.map((name) => cluster.must('virtctl', ['migrate', name, '--wait'])));
  const deadline = performance.now() + 60_000;
  while (qemus(cluster).size > MACHINES) {
    assert.ok(performance.now() < deadline, 'the QEMU of a source does not end');
    await systemClock.sleep(LOOK_MS);
  }
  for (const name of NAMES) await cluster.until(`vm/${name}`, '.status.printableStatus', 'Running');
}

function residues(cluster: EmbeddedCluster) {
  const [pid, paths] = [cluster.pid(), filesOfKubelets(cluster)];
  return {
    MiB: residentMiBOf(pid),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    sockets: paths.filter((path) => /(outgoing|incoming)-\w+\.sock$/.test(path)).length,
    podFolders: paths.filter((path) => /(^|\/)pods\/[^/]+$/.test(path)).length,
    qemus: qemus(cluster).size,
  };
}

function machine(name: string): object {
  const domain = { memory: { guest: '128Mi' }, devices: { disks: [{ name: 'data', disk: { bus: 'virtio' } }] } };
  const spec = { terminationGracePeriodSeconds: 0, domain, volumes: [{ name: 'data', emptyDisk: { capacity: '1Mi' } }] };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name }, spec: { runStrategy: 'Always', template: { spec } } };
}

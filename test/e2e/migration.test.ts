/**
 * A guest that counts, and keeps its count on a disk of its node alone and on one that all nodes see, is moved to another node and back, and loses nothing; a move that is cancelled
 * leaves it where it was. What it says is read from its console: a busy machine makes an agent late.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ConsoleSession, EmbeddedCluster } from './harness.ts';

/** Each line: the count, which boot of which machine this is (its UUID and MAC), and the count as both disks have it when nothing of it is in memory. */
const MACHINE = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: mover-shared }
spec: { accessModes: [ReadWriteMany], resources: { requests: { storage: 16Mi } } }
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: { name: mover }
spec:
  runStrategy: Always
  template:
    metadata: { labels: { pace: slow } }
    spec:
      evictionStrategy: LiveMigrate
      terminationGracePeriodSeconds: 0
      domain:
        memory: { guest: 128Mi }
        devices:
          disks:
            - { name: root, disk: { bus: virtio } }
            - { name: data, disk: { bus: virtio } }
            - { name: seed, disk: { bus: virtio } }
            - { name: shared, disk: { bus: virtio } }
          interfaces: [{ name: default, masquerade: {} }]
      networks: [{ name: default, pod: {} }]
      volumes:
        - { name: root, containerDisk: { image: localhost/guests/tiny } }
        - { name: data, emptyDisk: { capacity: 16Mi } }
        - { name: shared, persistentVolumeClaim: { claimName: mover-shared } }
        - name: seed
          cloudInitNoCloud:
            userData: |
              #!/bin/sh
              ln -s /bin/busybox /sbin/hwclock # without which its agent refuses to set the clock
              (
                i=1000
                while :; do
                  i=$((i+1))
                  for disk in vdb vdd; do echo $i | dd of=/dev/$disk conv=fsync 2>/dev/null; done
                  echo 3 > /proc/sys/vm/drop_caches
                  read boot < /proc/sys/kernel/random/boot_id
                  read mac < /sys/class/net/eth0/address
                  read uuid < /sys/class/dmi/id/product_uuid
                  echo "count $i $boot/$mac/$uuid $(head -c 4 /dev/vdb) $(head -c 4 /dev/vdd) end" > /dev/ttyS0
                  sleep 1
                done
              ) &
`;
/** Slow enough for the move to be seen. */
const policy = (namespace: string) => ({
  apiVersion: 'migrations.kubevirt.io/v1alpha1',
  kind: 'MigrationPolicy',
  metadata: { name: `slow-in-${namespace}` },
  spec: {
    selectors: { virtualMachineInstanceSelector: { pace: 'slow' }, namespaceSelector: { 'kubernetes.io/metadata.name': namespace } },
    bandwidthPerMigration: '12Mi',
  },
});
const HELLO = /Hello from a virtual machine/;
const LINE = /count (\d+) (\S+) (\d+) (\d+) end/g;

/** Among what it counts. */
async function logIn(console: ConsoleSession): Promise<void> {
  console.type('\n');
  await console.expect(/login: /);
  console.type('root\n');
  await console.expect(/Password: /);
  console.type('guest\n');
  await console.expect(/# /);
}

test('a running guest is moved to another node', { timeout: 600_000 }, async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny'], nodes: 2 });
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: MACHINE });
  await cluster.until('vmi/mover', '.status.phase', 'Running');
  const node = () => cluster.field('vmi', 'mover', '.status.nodeName');
  const state = (field: string) => cluster.field('vmi', 'mover', `.status.migrationState.${field}`);
  /** The last that the guest has said, once it has counted beyond a number; every line of its console is right. */
  const counted = async (beyond: number, boot?: string): Promise<{ readonly count: number; readonly boot: string }> => {
    for (;;) {
      const { stdout } = await cluster.virtctl(['logs', 'mover']);
      const said = [...stdout.matchAll(LINE)].map(([, count, of = '', ...kept]) => ({
        count: Number(count),
        boot: of,
        kept: kept.map(Number),
      }));
      for (const line of said) assert.deepEqual(line, { ...line, kept: [line.count, line.count], boot: boot ?? said[0]?.boot });
      const last = said.at(-1);
      if (last && last.count > beyond) return last;
    }
  };
  const migrations = async () => (await cluster.must('kubectl', ['get', 'vmim', '-o', 'name'])).trim().split('\n');
  const slow = policy(cluster.namespace);
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: JSON.stringify(slow) });
  t.after(() => cluster.kubectl(['delete', 'migrationpolicy', slow.metadata.name, '--ignore-not-found']));
  const first = await node();
  let last = await counted(0);
  assert.match(last.boot, /^[0-9a-f-]{36}\/([0-9a-f]{2}:){5}[0-9a-f]{2}\/[0-9a-f-]{36}$/);

  await using console = cluster.console('mover');
  await logIn(console);

  const forward = spawn(join('bin', 'virtctl'), ['port-forward', 'vm/mover', '0:80'], {
    env: cluster.environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(async () => {
    forward.kill();
    if (forward.exitCode === null && forward.signalCode === null) await once(forward, 'exit');
  });
  const [forwards] = await once(forward.stderr, 'data');
  const [, port] = /forwarding tcp 127\.0\.0\.1:(\d+) to 80/.exec(String(forwards)) ?? [];
  const throughForward = async () => (await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(20_000) })).text();
  await cluster.must('virtctl', ['expose', 'vm', 'mover', '--name', 'mover-http', '--port', '80']);
  const throughService = () => cluster.kubectl(['get', '--raw', `/api/v1/namespaces/${cluster.namespace}/services/mover-http:80/proxy/`]);
  assert.match(await throughForward(), HELLO);
  const WRONG_SECONDS = 1_000_000_000;
  await cluster.must('virtctl', ['exec', '--timeout', '120', 'mover', '--', 'date', '-s', `@${WRONG_SECONDS}`]);

  await t.test('--wait tells when it is there, and where', async () => {
    assert.equal(await cluster.must('virtctl', ['migrate', 'mover', '--check']), 'VM mover can be moved\n');
    assert.match(await cluster.must('virtctl', ['why', 'mover']), /LiveMigratable is True: it can be moved to another node/);
    const moving = cluster.must('virtctl', ['migrate', 'mover', '--wait']);
    await cluster.until('vmi/mover', '.status.migrationState.mode', 'PreCopy');
    await cluster.until('vm/mover', '.status.printableStatus', 'Migrating');
    console.type('echo said-before-$((6*7))\n');
    const said = await moving;
    const second = await node();
    assert.notEqual(second, first);
    assert.match(said, new RegExp(`Succeeded\\nVM mover runs on node ${second}\\n$`));
  });

  await t.test('a console that was open goes on, and what was typed and printed meanwhile is not lost', async () => {
    console.type('echo said-after-$((6*7))\n');
    const seen = await console.expect(/said-after-42/);
    assert.match(seen, /said-before-42[\s\S]*said-after-42$/);
    assert.match(seen, /\(mover continues at another node\)/);
    const counts = [...seen.matchAll(LINE)].map(([, count]) => Number(count));
    assert.deepEqual(
      counts,
      counts.map((_, index) => (counts[0] ?? 0) + index),
      'each line once',
    );
    assert.match((await cluster.virtctl(['logs', 'mover'])).stdout, /count 1001 /, 'what it printed at its first node');
  });

  await t.test('it went by its policy, and showed how far it was', async () => {
    assert.equal(await state('migrationPolicyName'), slow.metadata.name);
    assert.equal(await state('migrationConfiguration.bandwidthPerMigration'), '12Mi');
    assert.match(await state('progress.stage'), /^(Disks|Memory)$/);
    await cluster.must('kubectl', ['delete', 'migrationpolicy', slow.metadata.name]);
  });

  await t.test('its agent answers, and has been told the time', async () => {
    const behindSeconds = async () =>
      Date.now() / 1000 - Number(await cluster.must('virtctl', ['exec', '--timeout', '120', 'mover', '--', 'date', '+%s']));
    for (const deadline = performance.now() + 120_000; Math.abs(await behindSeconds()) > 60; )
      assert.ok(performance.now() < deadline, 'its clock is as it was');
  });

  await t.test('a port-forward that was open and a Service lead to where it is', async () => {
    assert.match(await throughForward(), HELLO);
    let said = await throughService();
    for (const deadline = performance.now() + 60_000; said.code !== 0 && performance.now() < deadline; ) said = await throughService();
    assert.match(`${said.stdout}${said.stderr}`, HELLO);
  });

  await t.test('the guest counts on, and its disks are as they were', async () => {
    last = await counted(last.count, last.boot);
  });

  await t.test('what it leaves is cleared away, and its address is that of its new Pod', async () => {
    await cluster.until(`pod/${await state('sourcePod')}`, '.status.phase', 'Succeeded');
    const address = await cluster.field('pod', await state('targetPod'), '.status.podIP');
    await cluster.until('vmi/mover', '.status.interfaces[0].ipAddress', address);
    await cluster.untilCondition('vmi/mover', 'Ready');
  });

  /** Whether it was in time: a small guest may be handed over before anybody has cancelled. */
  const isCancelled = async (): Promise<boolean> => {
    const [before, known] = [await node(), await migrations()];
    await cluster.must('virtctl', ['migrate', 'mover']);
    const [name = ''] = (await migrations()).filter((each) => !known.includes(each));
    const { code } = await cluster.virtctl(['migrate-cancel', 'mover']);
    const isOver = code === 0 ? 'delete' : 'jsonpath={.status.phase}=Succeeded';
    await cluster.must('kubectl', ['wait', `--for=${isOver}`, name, '--timeout=240s']);
    return (await node()) === before;
  };

  await t.test('a move that is cancelled in time leaves it where it is', async () => {
    let tries = 1;
    while (!(await isCancelled())) assert.ok(++tries <= 5, 'never in time');
    last = await counted(last.count, last.boot);
  });

  await t.test('one that is paused is paused there, and counts on when it is let', async () => {
    await cluster.must('virtctl', ['pause', 'vm', 'mover']);
    await cluster.untilCondition('vmi/mover', 'Paused');
    const before = await node();
    await cluster.must('virtctl', ['migrate', 'mover', '--wait']);
    assert.notEqual(await node(), before);
    assert.equal(await cluster.field('vmi', 'mover', '.status.conditions[?(@.type=="Paused")].reason'), 'PausedByUser');
    await cluster.must('virtctl', ['unpause', 'vm', 'mover']);
    last = await counted(last.count, last.boot);
  });

  await t.test('it is moved when its node is drained, and the mark of that goes', async () => {
    const drained = await node();
    const others = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--pod-selector=vm.kubevirt.io/name=mover']; // others use the cluster as well
    await cluster.must('kubectl', ['drain', drained, ...others, '--timeout=240s'], { timeoutMs: 250_000 });
    assert.notEqual(await node(), drained);
    await counted(last.count, last.boot);
    while ((await cluster.field('vmi', 'mover', '.status.evacuationNodeName')) !== ''); // until it is gone
    await cluster.must('kubectl', ['uncordon', drained]);
  });
});

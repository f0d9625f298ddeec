/** A guest that counts is moved between two nodes and back, and loses nothing; a move that is cancelled, and a target that is killed, leave it where it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const MACHINE = `
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: { name: mover }
spec:
  runStrategy: Always
  template:
    metadata: { labels: { app: mover } }
    spec:
      terminationGracePeriodSeconds: 0
      domain:
        memory: { guest: 128Mi }
        devices:
          disks: [{ name: root, disk: { bus: virtio } }, { name: data, disk: { bus: virtio } }, { name: seed, disk: { bus: virtio } }]
          interfaces: [{ name: default, masquerade: {} }]
      networks: [{ name: default, pod: {} }]
      volumes:
        - { name: root, containerDisk: { image: localhost/guests/agent } }
        - { name: data, emptyDisk: { capacity: 16Mi } }
        - name: seed
          cloudInitNoCloud:
            userData: |
              #!/bin/sh
              (i=0; while :; do i=$((i+1)); echo $i > /tmp/count; sleep 0.2; done) &
`;

test('a running guest is moved to another node', { timeout: 600_000 }, async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['agent'], nodes: 2 });
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: MACHINE });
  await cluster.untilCondition('vmi/mover', 'AgentConnected');
  const inGuest = async (script: string) => (await cluster.must('virtctl', ['exec', 'mover', '--', 'sh', '-c', script])).trim();
  const node = () => cluster.field('vmi', 'mover', '.status.nodeName');
  const first = await node();
  const boot = await inGuest('cat /proc/sys/kernel/random/boot_id');
  /** The guest that booted once, and has counted on. */
  const countOn = async (before: number) => {
    assert.equal(await inGuest('cat /proc/sys/kernel/random/boot_id'), boot);
    const count = Number(await inGuest(`until [ $(cat /tmp/count) -gt ${before} ]; do sleep 0.1; done; cat /tmp/count`));
    assert.ok(count > before, `${count} after ${before}`);
    return count;
  };
  let count = await countOn(0);
  // A block that was on a disk of this node alone, and synced.
  await inGuest('dd if=/dev/urandom of=/tmp/block bs=64k count=16 2>/dev/null; dd if=/tmp/block of=/dev/vdb bs=64k conv=fsync 2>/dev/null');
  const sum = await inGuest('md5sum < /tmp/block');

  await t.test('--wait tells when it is there, and where', async () => {
    assert.equal(await cluster.must('virtctl', ['migrate', 'mover', '--check']), 'VM mover can be moved\n');
    const said = await cluster.must('virtctl', ['migrate', 'mover', '--wait']);
    const second = await node();
    assert.notEqual(second, first);
    assert.match(said, new RegExp(`Succeeded\\nVM mover runs on node ${second}\\n$`));
  });

  await t.test('the guest counts on, and its disks are as they were', async () => {
    await cluster.untilCondition('vmi/mover', 'AgentConnected');
    count = await countOn(count);
    assert.equal(await inGuest('dd if=/dev/vdb bs=64k count=16 2>/dev/null | md5sum'), sum);
  });

  await t.test('what it leaves is cleared away, and its address is that of its new Pod', async () => {
    await cluster.untilCondition('vmi/mover', 'Ready');
    // QEMU of the node that it left ends, and so does its Pod.
    await cluster.until(`pod/${await cluster.field('vmi', 'mover', '.status.migrationState.sourcePod')}`, '.status.phase', 'Succeeded');
    const pod = await cluster.field('vmi', 'mover', '.status.migrationState.targetPod');
    const address = await cluster.field('pod', pod, '.status.podIP');
    await cluster.until('vmi/mover', '.status.interfaces[0].ipAddress', address);
  });

  await t.test('a move that is cancelled leaves it where it was', async () => {
    const before = await node();
    await cluster.must('virtctl', ['migrate', 'mover']);
    await cluster.must('virtctl', ['migrate-cancel', 'mover']);
    await cluster.until('vm/mover', '.status.printableStatus', 'Running');
    assert.equal(await node(), before);
    count = await countOn(count);
  });

  await t.test('and it can be moved back', async () => {
    await untilNone(cluster);
    await cluster.must('virtctl', ['migrate', 'mover', '--wait']);
    assert.equal(await node(), first);
    await cluster.untilCondition('vmi/mover', 'AgentConnected');
    await countOn(count);
    assert.equal(await inGuest('dd if=/dev/vdb bs=64k count=16 2>/dev/null | md5sum'), sum);
  });
});

/** Waits until no migration is under way: one that was cancelled goes. */
async function untilNone(cluster: EmbeddedCluster): Promise<void> {
  for (;;) {
    const phases = await cluster.must('kubectl', ['get', 'vmim', '-o', 'jsonpath={.items[*].status.phase}']);
    if (phases.split(' ').every((phase) => phase === '' || phase === 'Succeeded' || phase === 'Failed')) return;
  }
}

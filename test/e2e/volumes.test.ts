import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;
const VM = 'keeper';
const MARKER = 'this-was-written-before-the-restart';

function machine(): object {
  const disks = ['root', 'data', 'copy'].map((name) => ({ name, disk: { bus: 'virtio' } }));
  const volumes = [
    { name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'copy', ephemeral: { persistentVolumeClaim: { claimName: 'golden' } } },
  ];
  const domain = { resources: { requests: { memory: '128Mi' } }, devices: { disks } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: VM },
    spec: { running: true, template: { spec: { domain, volumes, terminationGracePeriodSeconds: 20 } } },
  };
}

function claim(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
  };
}

type InGuest = (script: string) => Promise<string>;

/** Runs a script in the guest, once its agent is there. */
function guestOf(cluster: EmbeddedCluster): InGuest {
  return async (script) => {
    await cluster.untilCondition(`vmi/${VM}`, 'AgentConnected');
    const { stdout } = await cluster.virtctl(['exec', VM, '--', 'sh', '-c', script]);
    return stdout.trim();
  };
}

/** A guest sees a device a moment after QEMU has it. */
async function untilGuest(inGuest: InGuest, script: string, wanted: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (let seen = ''; ; ) {
    seen = await inGuest(script);
    if (seen === wanted) return;
    assert.ok(Date.now() < deadline, `${script}: ${seen}, not ${wanted}`);
  }
}

test('what a guest writes to a claim is there after a restart; what it writes to an ephemeral copy is not', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const create = (object: object) => cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });

  await t.test('a machine waits for a claim that is missing, and says so', async () => {
    await create(claim('golden'));
    const folder = await cluster.folderOf('golden');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'disk.img'), Buffer.concat([Buffer.from('golden content\n'), Buffer.alloc(2 ** 20)]).subarray(0, 2 ** 20));
    await create(machine());
    await cluster.until(`vmi/${VM}`, '.status.conditions[?(@.type=="Synchronized")].reason', 'FailedPvcNotFound');
    assert.match(
      await cluster.must('kubectl', ['describe', 'vmi', VM]),
      new RegExp(`PVC ${cluster.namespace}/data does not exist, waiting for it to appear`),
    );
    await create(claim('data'));
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
  });

  await t.test('the disk has the size of the claim less the reserve', async () => {
    await using console = cluster.console(VM);
    await console.expect(/guest ready/);
    await console.login();
    assert.equal(await console.command('cat /sys/block/vdb/size'), String((60 * 2 ** 20) / 512));
    await console.command(`echo ${MARKER} | dd of=/dev/vdb bs=512 seek=2048 conv=sync,fsync 2>/dev/null`);
    await console.command(`echo ${MARKER} | dd of=/dev/vdc bs=512 seek=8 conv=sync,fsync 2>/dev/null`);
  });

  const noGrowth = isReal && 'the storage class of the test cluster does not grow volumes';
  await t.test(
    'a disk grows while its guest writes to it, whoever is killed half-way, and does not shrink',
    { skip: noGrowth },
    async () => {
      const inGuest = guestOf(cluster);
      const sectors = 'cat /sys/block/vdb/size';
      assert.match(await cluster.must('virtctl', ['resize', VM, '96Mi']), /^disk data of keeper \(PVC data\) grows to 96Mi while it runs/);
      await untilGuest(inGuest, sectors, String((90 * 2 ** 20) / 512));
      await cluster.until(`vmi/${VM}`, '.status.volumeStatus[?(@.name=="data")].size', String(90 * 2 ** 20));
      const patch = (storage: string) =>
        cluster.kubectl([
          'patch',
          'pvc',
          'data',
          '--type',
          'merge',
          '-p',
          JSON.stringify({ spec: { resources: { requests: { storage } } } }),
        ]);
      const shrunk = await patch('64Mi');
      assert.match(shrunk.stderr, /can not be less than status.capacity/);
      const endless = await cluster.virtctl(['resize', VM, '8Ei']);
      assert.deepEqual(
        [endless.code, /too large for the file system.*at most \d+[MGTP]i/s.test(endless.stderr)],
        [1, true],
        endless.stderr,
      );
      assert.match(await cluster.must('virtctl', ['resize', VM, '96Mi']), /keeps 96Mi, and what was asked before is taken back/);
      assert.equal((await patch('128Mi')).code, 0);
      process.kill(cluster.pid(), 'SIGKILL');
      await cluster.must('virtctl', ['up']);
      await untilGuest(inGuest, sectors, String((120 * 2 ** 20) / 512));
      assert.equal(await inGuest('dd if=/dev/vdb bs=512 skip=2048 count=1 2>/dev/null | tr -d "\\0"'), MARKER);
      assert.match(await cluster.must('kubectl', ['get', 'events']), /VolumeResized/);
    },
  );

  /** As a volume that promises more than its disk can be. */
  const promise = (storage: string) =>
    cluster.must('kubectl', [
      'patch',
      'pvc',
      'data',
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status: { capacity: { storage } } }),
    ]);
  const reason = '.status.volumeStatus[?(@.name=="data")].reason';
  await t.test('after a restart the claim has the data, the copy has the old content', async () => {
    if (!isReal) await promise('7Ei');
    const stop = '{"spec":{"running":false}}';
    await cluster.must('kubectl', ['patch', 'vm', VM, '--type', 'merge', '-p', stop]);
    await cluster.untilGone(`vmi/${VM}`);
    await cluster.must('virtctl', ['start', VM]);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    await using console = cluster.console(VM);
    await console.expect(/guest ready/);
    await console.login();
    // A line that is longer than the terminal comes back in pieces, so the long one is only defined here.
    await console.command('block() { dd if=$1 bs=512 skip=$2 count=1 2>/dev/null | tr -d "\\0"; }');
    assert.equal(await console.command('block /dev/vdb 2048'), MARKER);
    assert.equal(await console.command('block /dev/vdc 0 | head -n 1'), 'golden content');
    assert.equal(await console.command('block /dev/vdc 8 | wc -c'), '0');
  });

  await t.test(
    'a machine whose disk cannot grow starts with the size that is there, says so, and grows when it can',
    { skip: noGrowth },
    async () => {
      await cluster.until(`vmi/${VM}`, reason, 'ResizeFailed');
      assert.match(await cluster.field('vmi', VM, '.status.volumeStatus[?(@.name=="data")].message'), /cannot grow to/);
      await promise('136Mi');
      await cluster.until(`vmi/${VM}`, '.status.volumeStatus[?(@.name=="data")].size', String(128 * 2 ** 20));
      assert.equal(await cluster.field('vmi', VM, reason), '');
      await promise('128Mi');
    },
  );

  await t.test('a machine is kept while it runs, and becomes what it was', async () => {
    const inGuest = async (script: string) => {
      await cluster.untilCondition(`vmi/${VM}`, 'AgentConnected');
      return (await cluster.must('virtctl', ['exec', VM, '--', 'sh', '-c', script])).trim();
    };
    const read = 'dd if=/dev/vdb bs=512 skip=2048 count=1 2>/dev/null | tr -d "\\0"';
    assert.equal(await inGuest(read), MARKER);
    const said = await cluster.must('virtctl', ['snapshot', VM, 'before']);
    assert.equal(said, 'keeper is kept as before: disks data, while its file systems were frozen\n');
    assert.equal(await inGuest(`echo changed | dd of=/dev/vdb bs=512 seek=2048 conv=sync,fsync 2>/dev/null; ${read}`), 'changed');
    const { code, stderr } = await cluster.virtctl(['rollback', VM]);
    assert.deepEqual([code, /while it runs/.test(stderr)], [4, true], stderr);
    await cluster.must('virtctl', ['stop', VM]);
    await cluster.untilGone(`vmi/${VM}`);
    assert.match(await cluster.must('virtctl', ['rollback', VM]), /^keeper is what it was in before, with new disks: data/);
    await cluster.must('virtctl', ['start', VM]);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    assert.equal(await inGuest(read), MARKER);
    const kept = await cluster.must('kubectl', ['get', 'volumesnapshot', '-o', 'name']);
    await cluster.must('kubectl', ['delete', 'vmsnapshot', 'before']);
    await cluster.untilGone(kept.trim());
  });

  await t.test('a guest that never stops writing is kept as of one moment, and goes on', async () => {
    const inGuest = guestOf(cluster);
    // Each round writes its number at both ends of the disk, one after the other: a copy of one moment has at most one between them.
    const [first, last] = [0, 100_000];
    const write = `i=0; while :; do i=$((i+1)); for at in ${first} ${last}; do echo $i | dd of=/dev/vdb bs=512 seek=$at count=1 conv=sync,notrunc oflag=direct; done; done`;
    await inGuest("tr '\\0' x </dev/zero | head -c 52000000 | dd of=/dev/vdb bs=64k conv=notrunc,fsync 2>/dev/null"); // copying takes a moment
    await inGuest(`(${write}) >/dev/null 2>&1 </dev/null &`);
    const number = (at: number) => `dd if=/dev/vdb bs=512 skip=${at} count=1 iflag=direct 2>/dev/null | tr -d '\\0'`;
    assert.match(await cluster.must('virtctl', ['snapshot', VM, 'busy']), /while (it was paused|its file systems were frozen)\n$/);
    const before = Number(await inGuest(number(first)));
    await untilGuest(inGuest, `[ $(${number(first)}) -gt ${before} ] && echo goes on`, 'goes on');
    await cluster.must('virtctl', ['stop', VM]);
    await cluster.untilGone(`vmi/${VM}`);
    await cluster.must('virtctl', ['rollback', VM, 'busy']);
    await cluster.must('virtctl', ['start', VM]);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    const [left, right] = [Number(await inGuest(number(first))), Number(await inGuest(number(last)))];
    assert.ok(left > 0 && (left === right || left === right + 1), `${left} and ${right}`);
    assert.equal(await cluster.field('vmsnapshot', 'busy', '.status.pausedInstanceUID'), '');
    await cluster.must('kubectl', ['delete', 'vmsnapshot', 'busy']);
  });

  await t.test('a restore in place gives the disk of then under the name of now', async () => {
    await cluster.must('virtctl', ['stop', VM]);
    await cluster.untilGone(`vmi/${VM}`);
    await cluster.must('virtctl', ['snapshot', VM, 'rest']);
    const claimName = await cluster.field('vm', VM, '.spec.template.spec.volumes[1].persistentVolumeClaim.claimName');
    const uid = await cluster.field('pvc', claimName, '.metadata.uid');
    const diskOf = async () => join(await cluster.folderOf(claimName), 'disk.img');
    const [damage, at] = ['damaged', 2 ** 20];
    const before = openSync(await diskOf(), 'r+');
    writeSync(before, damage, at);
    closeSync(before);
    const target = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: VM };
    await create({
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineRestore',
      metadata: { name: 'in-place' },
      spec: { target, virtualMachineSnapshotName: 'rest', volumeRestorePolicy: 'InPlace' },
    });
    await cluster.until('vmrestore/in-place', '.status.complete', 'true');
    assert.notEqual(await cluster.field('pvc', claimName, '.metadata.uid'), uid);
    const [after, bytes] = [openSync(await diskOf(), 'r'), Buffer.alloc(damage.length)];
    readSync(after, bytes, 0, bytes.length, at);
    closeSync(after);
    assert.notEqual(bytes.toString(), damage);
    await cluster.must('kubectl', ['delete', 'vmsnapshot', 'rest']);
    await cluster.must('virtctl', ['start', VM]);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
  });

  await t.test('a claim in use stays until its machine is gone', async () => {
    const claimName = await cluster.field('vm', VM, '.spec.template.spec.volumes[1].persistentVolumeClaim.claimName');
    await cluster.must('kubectl', ['delete', 'pvc', claimName, '--wait=false']);
    assert.notEqual(await cluster.field('pvc', claimName, '.metadata.deletionTimestamp'), '');
    await cluster.must('kubectl', ['delete', 'vm', VM]);
    await cluster.untilGone(`pvc/${claimName}`);
    assert.doesNotMatch(await cluster.must('kubectl', ['get', 'pv']), new RegExp(`${cluster.namespace}/${claimName}`));
  });
});

/** A machine whose memory is dumped, and kept while it does not run; on both kinds of cluster. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { EmbeddedCluster } from './harness.ts';

const VM = 'sleeper';
/** In pieces: the whole of it is nowhere but in the guest's memory. */
const MARKER = ['what', 'only', 'its', 'memory', 'has'];
const ELF_CORE = 4;
const MARK_SECTOR = 400_000;
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;
/** For `skip` of a step. */
const onRealCluster = isReal && 'it kills the embedded process; that of a real cluster is used by others at the same time';

function claim(name: string, storage: string, annotations = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, annotations },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  };
}

function machine(name: string, volume: object): object {
  const disks = [{ name: 'root', disk: { bus: 'virtio' } }];
  const domain = { resources: { requests: { memory: '128Mi' } }, devices: { disks } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name },
    spec: {
      runStrategy: 'Always',
      template: { spec: { domain, volumes: [{ name: 'root', ...volume }], terminationGracePeriodSeconds: 5 } },
    },
  };
}

test('a machine is suspended, and goes on where it was', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const create = (object: object) => cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
  const inGuest = async (script: string) => {
    await cluster.untilCondition(`vmi/${VM}`, 'AgentConnected');
    return (await cluster.must('virtctl', ['exec', VM, '--', 'sh', '-c', script])).trim();
  };
  const isStatus = (word: string) => cluster.until(`vm/${VM}`, '.status.printableStatus', word);
  const suspend = async () => {
    await cluster.must('virtctl', ['suspend', VM]);
    await isStatus('Suspended');
    return cluster.field('vm', VM, '.status.suspension.claimName');
  };
  await create(claim('root', '256Mi', { 'kubevirt.io/disk-image': 'localhost/guests/tiny:latest' }));
  await create(machine(VM, { persistentVolumeClaim: { claimName: 'root' } }));
  await isStatus('Running');
  // What counts is in its memory alone: a machine that booted would begin anew.
  await inGuest(
    '(n=0; while sleep 0.2; do n=$((n + 1)); echo $n >/dev/shm/count 2>/dev/null || echo $n >/tmp/count; done) >/dev/null 2>&1 &',
  );
  const count = async () => Number(await inGuest('sleep 1; cat /dev/shm/count 2>/dev/null || cat /tmp/count'));
  const bootId = () => inGuest('cat /proc/sys/kernel/random/boot_id');
  const boot = await bootId();
  const mac = await cluster.field('vmi', VM, '.status.interfaces[0].mac');
  let before = await count();
  const goesOn = async () => {
    assert.equal(await bootId(), boot);
    const after = await count();
    assert.ok(after > before, `${after} is not more than ${before}`);
    before = after;
  };

  /** Behind what the image has on it, straight to the disk. */
  const write = (word: string) => inGuest(`printf ${word} | dd of=/dev/vda bs=512 seek=${MARK_SECTOR} conv=sync,fsync 2>/dev/null`);
  const written = async () => {
    const claimName = await cluster.field('vm', VM, '.spec.template.spec.volumes[0].persistentVolumeClaim.claimName');
    const disk = readFileSync(join(await cluster.folderOf(claimName), 'disk.img'));
    return disk.toString('latin1', 512 * MARK_SECTOR, 512 * MARK_SECTOR + 4);
  };
  const enlarge = () => {
    const patch = { spec: { template: { spec: { domain: { resources: { requests: { memory: '160Mi' } } } } } } };
    return cluster.must('kubectl', ['patch', 'vm', VM, '--type=merge', '-p', JSON.stringify(patch)]);
  };
  const dumpIs = (phase: string) => cluster.until(`vm/${VM}`, '.status.memoryDumpRequest.phase', phase);

  await t.test('its memory is dumped to a PVC, as a core file that holds what the guest had in it', async () => {
    await create(claim('small', '64Mi'));
    const small = await cluster.virtctl(['memory-dump', 'get', VM, '--claim-name', 'small']);
    assert.deepEqual([small.code, /PVC small has 64Mi, a dump of this guest needs 241Mi/.test(small.stderr)], [4, true], small.stderr);
    await inGuest(`echo ${MARKER.join('-')} >/dev/shm/marker 2>/dev/null || echo ${MARKER.join('-')} >/tmp/marker`);
    assert.match(
      await cluster.must('virtctl', ['memory-dump', 'get', VM, '--claim-name', 'dump', '--create-claim']),
      new RegExp(`^PVC ${cluster.namespace}/dump created\nSuccessfully submitted memory dump request`),
    );
    await dumpIs('Completed');
    const fileName = await cluster.field('vm', VM, '.status.memoryDumpRequest.fileName');
    assert.match(fileName, /^sleeper-dump-\d{8}-\d{6}\.memory\.dump$/);
    assert.deepEqual(readdirSync(await cluster.folderOf('dump')), [fileName]);
    const core = readFileSync(join(await cluster.folderOf('dump'), fileName));
    assert.deepEqual([core.toString('latin1', 0, 4), core.readUInt16LE(16)], ['\x7fELF', ELF_CORE]);
    assert.ok(core.length > 128 * 2 ** 20, `${core.length} bytes`);
    assert.ok(core.includes(MARKER.join('-')));
    assert.equal(await cluster.field('pvc', 'dump', '.metadata.annotations.kubevirt\\.io/memory-dump'), fileName);
    assert.equal(await cluster.field('vm', VM, '.status.conditions[?(@.type=="RestartRequired")].status'), '');
    assert.equal(await cluster.field('vmi', VM, '.status.volumeStatus[?(@.name=="dump")].phase'), '');
    await goesOn();
    const archive = join(cluster.home, 'dump.tar.gz');
    await cluster.must('virtctl', ['memory-dump', 'download', VM, '--output', archive]);
    const taken = execFileSync('tar', ['-xzOf', archive, fileName], { maxBuffer: 2 ** 30 });
    assert.ok(taken.equals(core), 'what was taken out of the cluster is the dump');
  });

  await t.test(
    'kill -9 of the cluster while memory is dumped leaves a guest that runs, and no half of a dump',
    { skip: onRealCluster },
    async () => {
      await cluster.must('virtctl', ['memory-dump', 'get', VM]);
      await untilHalfWritten(cluster.home, '*.memory.dump.part');
      process.kill(cluster.pid(), 'SIGKILL');
      await cluster.must('virtctl', ['up']);
      await dumpIs('Failed');
      const why = await cluster.field('vm', VM, '.status.memoryDumpRequest.message');
      assert.equal(why, 'virt-handler was restarted while the memory was dumped');
      await goesOn();
    },
  );

  await t.test('a PVC that is let go of keeps whole dumps only', async () => {
    await cluster.must('virtctl', ['memory-dump', 'remove', VM]);
    for (const deadline = performance.now() + 60_000; (await cluster.field('vm', VM, '.status.memoryDumpRequest')) !== ''; )
      assert.ok(performance.now() < deadline, 'the PVC is still associated');
    assert.deepEqual(
      readdirSync(await cluster.folderOf('dump')).filter((name) => name.endsWith('.part')),
      [],
    );
    assert.equal(await cluster.field('vm', VM, '.spec.template.spec.volumes[*].name'), 'root');
    await cluster.must('kubectl', ['delete', 'pvc', 'dump', 'small']);
  });

  await t.test('suspend frees the node: no instance, no Pod, a PVC that belongs to the machine', async () => {
    const claimName = await suspend();
    await cluster.untilGone(`vmi/${VM}`);
    assert.doesNotMatch(await cluster.must('kubectl', ['get', 'pods', '-o', 'name']), /launcher/);
    assert.equal(await cluster.field('pvc', claimName, '.metadata.ownerReferences[0].name'), VM);
    assert.match(await cluster.field('vm', VM, '.status.conditions[?(@.type=="Suspended")].message'), /virtctl resume resumes it/);
  });

  await t.test('resume goes on with the same memory, the same card and the time of today', async () => {
    await cluster.must('virtctl', ['resume', VM]);
    await isStatus('Running');
    await goesOn();
    assert.equal(await cluster.field('vmi', VM, '.status.interfaces[0].mac'), mac);
    assert.equal(await cluster.field('vm', VM, '.status.suspension'), '');
  });

  await t.test('start of a suspended machine resumes it, whatever was edited meanwhile', async () => {
    await suspend();
    await enlarge();
    await cluster.must('virtctl', ['start', VM]);
    await isStatus('Running');
    await goesOn();
    assert.equal(await cluster.field('vmi', VM, '.spec.domain.resources.requests.memory'), '128Mi');
    await cluster.until(`vm/${VM}`, '.status.conditions[?(@.type=="RestartRequired")].status', 'True');
  });

  await t.test('a snapshot with memory is of one moment: the guest goes on, and comes back to it with its disk of then', async () => {
    await write('then');
    assert.equal(
      await cluster.must('virtctl', ['snapshot', '--memory', VM, 'warm']),
      `${VM} is kept as warm: disks root, with its memory\n`,
    );
    await isStatus('Running');
    await goesOn();
    await write('late');
    await cluster.must('virtctl', ['stop', VM]);
    await isStatus('Stopped');
    assert.match(await cluster.must('virtctl', ['rollback', VM, 'warm']), /^VM sleeper was scheduled to resume$/m);
    await isStatus('Running');
    assert.equal(await bootId(), boot);
    assert.equal(await written(), 'then');
    before = 0; // it counts from there again
    await goesOn();
  });

  await t.test('new machines go on from it, each with an identity and disks of its own, also after a kill -9 on the way', async () => {
    const about = 'hostname; cat /sys/class/net/eth0/address /proc/sys/kernel/random/boot_id; ip link show eth0 | grep -c LOWER_UP';
    const facts = async (name: string) => {
      await cluster.until(`vm/${name}`, '.status.printableStatus', 'Running');
      await cluster.untilCondition(`vmi/${name}`, 'AgentConnected');
      for (const deadline = performance.now() + 60_000; (await cluster.field('vmi', name, '.status.suspension')) !== ''; )
        assert.ok(performance.now() < deadline, 'its guest is not told who it is');
      return (await cluster.must('virtctl', ['exec', name, '--', 'sh', '-c', about])).trim().split('\n');
    };
    await cluster.must('virtctl', ['clone', '--snapshot', 'warm', '--start', VM, 'twin']);
    const seen = await facts('twin');
    const own = await cluster.field('vmi', 'twin', '.status.interfaces[0].mac');
    assert.deepEqual(seen, ['twin', own, boot, '1']);
    await cluster.must('virtctl', ['clone', '--snapshot', 'warm', '--start', VM, 'third']);
    if (!isReal) {
      process.kill(cluster.pid(), 'SIGKILL');
      await cluster.must('virtctl', ['up']);
    }
    const [name, other, booted, links] = await facts('third');
    assert.deepEqual([name, booted, links, new Set([mac, own, other]).size], ['third', boot, '1', 3]);
    await goesOn();
    assert.equal(await inGuest('hostname'), 'tiny');
    for (const each of ['twin', 'third']) await cluster.must('virtctl', ['delete', each]);
  });

  await t.test('what cannot be kept is refused by its name', async () => {
    await create(machine('lost', { containerDisk: { image: 'localhost/guests/tiny:latest' } }));
    await cluster.until('vm/lost', '.status.printableStatus', 'Running');
    const { code, stderr } = await cluster.virtctl(['suspend', 'lost']);
    assert.notEqual(code, 0);
    assert.match(stderr, /disk root is a containerDisk, which ends with its Pod: put it on a PVC/);
    await cluster.must('kubectl', ['delete', 'vm', 'lost', '--wait=false']);
  });

  await t.test('kill -9 of the cluster while memory is saved loses nothing', { skip: onRealCluster }, async () => {
    await cluster.must('virtctl', ['suspend', VM]);
    await untilHalfWritten(cluster.home, 'memory.part');
    process.kill(cluster.pid(), 'SIGKILL');
    await cluster.must('virtctl', ['up']);
    if ((await untilDecided(cluster)) === 'Suspended') await cluster.must('virtctl', ['resume', VM]);
    else {
      const why = await cluster.field('vm', VM, '.status.conditions[?(@.type=="Suspended")].message');
      assert.equal(why, 'virt-handler was restarted while the guest was saved');
    }
    await isStatus('Running');
    await goesOn();
    await cluster.until(`vmi/${VM}`, '.status.phase', 'Running');
    assert.equal(await cluster.field('vmi', VM, '.status.suspension'), '');
  });

  await t.test('start --discard boots it anew, as it was edited', async () => {
    const claimName = await suspend();
    await enlarge();
    await cluster.must('virtctl', ['start', '--discard', VM]);
    await isStatus('Running');
    assert.notEqual(await bootId(), boot);
    assert.equal(await inGuest('cat /dev/shm/count /tmp/count 2>/dev/null || true'), '');
    assert.equal(await cluster.field('vmi', VM, '.spec.domain.resources.requests.memory'), '160Mi');
    await isGone(cluster, `pvc/${claimName}`);
  });

  await t.test('stop throws the saved memory away, and says so', async () => {
    const claimName = await suspend();
    const { code, stdout, stderr } = await cluster.virtctl(['stop', VM]);
    assert.deepEqual([code, stdout], [0, `VM ${VM} was scheduled to stop\n`]);
    assert.match(stderr, /^Warning: it was suspended: its saved memory is thrown away/m);
    await isStatus('Stopped');
    await isGone(cluster, `pvc/${claimName}`);
    assert.doesNotMatch(await cluster.must('kubectl', ['get', 'pvc', '-o', 'name']), /memory/);
    const events = await cluster.must('kubectl', ['get', 'events', '-o', 'jsonpath={.items[*].message}']);
    assert.match(events, /The saved memory of the machine was thrown away\./);
  });
});

/** Its guest stands still then, and the first of its memory is on the PVC. */
async function untilHalfWritten(home: string, file: string): Promise<void> {
  for (const deadline = performance.now() + 120_000; performance.now() < deadline; await systemClock.sleep(2))
    for (const part of globSync(join(home, `volumes/*/${file}`))) if (existsSync(part) && statSync(part).size > 2 ** 20) return;
  throw new Error(`no ${file} is being written`);
}

/** What became of a machine that was being suspended. */
async function untilDecided(cluster: EmbeddedCluster): Promise<string> {
  for (const deadline = performance.now() + 120_000; performance.now() < deadline; await systemClock.sleep(300)) {
    const status = await cluster.field('vm', VM, '.status.printableStatus');
    if (status !== 'Suspending') return status;
  }
  throw new Error('the machine is Suspending for ever');
}

/** `kubectl wait` refuses what is gone already. */
async function isGone(cluster: EmbeddedCluster, what: string): Promise<void> {
  const { code } = await cluster.kubectl(['get', what]);
  if (code === 0) await cluster.untilGone(what);
}

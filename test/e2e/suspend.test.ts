import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { EmbeddedCluster } from './harness.ts';

const VM = 'sleeper';
/** In pieces: the whole of it is nowhere but in the guest's memory. */
const MARKER = ['what', 'only', 'its', 'memory', 'has'];
const ELF_CORE = 4;

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

  const folderOf = async (name: string) => cluster.field('pv', await cluster.field('pvc', name, '.spec.volumeName'), '.spec.hostPath.path');
  const dumpIs = (phase: string) => cluster.until(`vm/${VM}`, '.status.memoryDumpRequest.phase', phase);

  await t.test('its memory is dumped to a PVC, as a core file that holds what the guest had in it', async () => {
    await create(claim('small', '64Mi'));
    const small = await cluster.virtctl(['memory-dump', 'get', VM, '--claim-name', 'small']);
    assert.deepEqual([small.code, /PVC small has 64Mi, a dump of this guest needs 241Mi/.test(small.stderr)], [4, true], small.stderr);
    await inGuest(`echo ${MARKER.join('-')} >/dev/shm/marker 2>/dev/null || echo ${MARKER.join('-')} >/tmp/marker`);
    assert.match(
      await cluster.must('virtctl', ['memory-dump', 'get', VM, '--claim-name', 'dump', '--create-claim']),
      /^PVC default\/dump created\nSuccessfully submitted memory dump request/,
    );
    await dumpIs('Completed');
    const fileName = await cluster.field('vm', VM, '.status.memoryDumpRequest.fileName');
    assert.match(fileName, /^sleeper-dump-\d{8}-\d{6}\.memory\.dump$/);
    assert.deepEqual(readdirSync(await folderOf('dump')), [fileName]);
    const core = readFileSync(join(await folderOf('dump'), fileName));
    assert.deepEqual([core.toString('latin1', 0, 4), core.readUInt16LE(16)], ['\x7fELF', ELF_CORE]);
    assert.ok(core.length > 128 * 2 ** 20, `${core.length} bytes`);
    assert.ok(core.includes(MARKER.join('-')));
    assert.equal(await cluster.field('pvc', 'dump', '.metadata.annotations.kubevirt\\.io/memory-dump'), fileName);
    assert.equal(await cluster.field('vm', VM, '.status.conditions[?(@.type=="RestartRequired")].status'), '');
    assert.equal(await cluster.field('vmi', VM, '.status.volumeStatus[?(@.name=="dump")].phase'), '');
    await goesOn();
  });

  await t.test('kill -9 of the cluster while memory is dumped leaves a guest that runs, and no half of a dump', async () => {
    await cluster.must('virtctl', ['memory-dump', 'get', VM]);
    await untilHalfWritten(cluster.home, 'memory.dump.part');
    process.kill(cluster.pid(), 'SIGKILL');
    await cluster.must('virtctl', ['up']);
    await dumpIs('Failed');
    const why = await cluster.field('vm', VM, '.status.memoryDumpRequest.message');
    assert.equal(why, 'virt-handler was restarted while the memory was dumped');
    await goesOn();
    await cluster.must('virtctl', ['memory-dump', 'remove', VM]);
    for (const deadline = performance.now() + 60_000; (await cluster.field('vm', VM, '.status.memoryDumpRequest')) !== ''; )
      assert.ok(performance.now() < deadline, 'the PVC is still associated');
    assert.deepEqual(
      readdirSync(await folderOf('dump')).filter((name) => name.endsWith('.part')),
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
    assert.match(await cluster.field('vm', VM, '.status.conditions[?(@.type=="Suspended")].message'), /virtctl resume lets it go on/);
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
    const patch = JSON.stringify({ spec: { template: { spec: { domain: { resources: { requests: { memory: '160Mi' } } } } } } });
    await cluster.must('kubectl', ['patch', 'vm', VM, '--type=merge', '-p', patch]);
    await cluster.must('virtctl', ['start', VM]);
    await isStatus('Running');
    await goesOn();
    assert.equal(await cluster.field('vmi', VM, '.spec.domain.resources.requests.memory'), '128Mi');
    await cluster.until(`vm/${VM}`, '.status.conditions[?(@.type=="RestartRequired")].status', 'True');
  });

  await t.test('what cannot be kept is refused by its name', async () => {
    await create(machine('lost', { containerDisk: { image: 'localhost/guests/tiny:latest' } }));
    await cluster.until('vm/lost', '.status.printableStatus', 'Running');
    const { code, stderr } = await cluster.virtctl(['suspend', 'lost']);
    assert.notEqual(code, 0);
    assert.match(stderr, /disk root is a containerDisk, which ends with its Pod: put it on a PVC/);
    await cluster.must('kubectl', ['delete', 'vm', 'lost', '--wait=false']);
  });

  await t.test('kill -9 of the cluster while memory is saved loses nothing', async () => {
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
    assert.equal(await cluster.must('kubectl', ['get', 'pvc', '-o', 'name']), 'persistentvolumeclaim/root\n');
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

/** Backups of a machine that runs: a full one, what has changed since, and one that is cut off; on both kinds of cluster. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { EmbeddedCluster } from './harness.ts';

const VM = 'kept';
const DISKS = ['data', 'more'];
const MIB = 2 ** 20;
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;
const onRealCluster = isReal && 'it kills the embedded process; that of a real cluster is used by others at the same time';

function machine(): object {
  const disks = ['root', ...DISKS].map((name) => ({ name, disk: { bus: 'virtio' } }));
  const claims = DISKS.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const volumes = [{ name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } }, ...claims];
  const domain = { resources: { requests: { memory: '128Mi' } }, devices: { disks } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: VM },
    spec: { runStrategy: 'Always', template: { spec: { domain, volumes, terminationGracePeriodSeconds: 5 } } },
  };
}

function claim(name: string, storage: string): object {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec };
}

test('a machine that runs is backed up, and what has changed since', async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny'] });
  const create = (object: object) => cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
  const inGuest = async (script: string) => {
    await cluster.untilCondition(`vmi/${VM}`, 'AgentConnected');
    return (await cluster.must('virtctl', ['exec', VM, '--', 'sh', '-c', script])).trim();
  };
  const write = (disk: string, word: string, sector: number) =>
    inGuest(`printf ${word} | dd of=/dev/${disk} bs=512 seek=${sector} conv=sync,fsync 2>/dev/null`);
  const ask = (name: string, spec: object = {}) => {
    const source = { apiGroup: 'backup.kubevirt.io', kind: 'VirtualMachineBackupTracker', name: 'nightly' };
    const object = { apiVersion: 'backup.kubevirt.io/v1alpha1', kind: 'VirtualMachineBackup', metadata: { name } };
    return create({ ...object, spec: { source, pvcName: 'backups', ...spec } });
  };
  const said = (name: string, type: string, field: string) =>
    cluster.field('vmbackup', name, `.status.conditions[?(@.type=="${type}")].${field}`);
  /** What was at these places of a disk, put together from the files as people do. */
  const restored = async (name: string, volume: string, ...sectors: readonly number[]) => {
    const checkpoint = await cluster.field('vmbackup', name, '.status.checkpointName');
    const out = join(cluster.home, 'restored.img');
    execFileSync('qemu-img', ['convert', '-O', 'raw', join(await cluster.folderOf('backups'), VM, checkpoint, `${volume}.qcow2`), out]);
    const disk = readFileSync(out);
    return sectors.map((sector) => disk.toString('latin1', 512 * sector, 512 * sector + 12).replaceAll('\0', ''));
  };
  for (const name of DISKS) await create(claim(name, '64Mi'));
  await create(claim('backups', '512Mi'));
  await create(machine());
  const source = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: VM };
  const tracker = { apiVersion: 'backup.kubevirt.io/v1alpha1', kind: 'VirtualMachineBackupTracker', metadata: { name: 'nightly' } };
  await create({ ...tracker, spec: { source } });

  await t.test('what cannot be made is refused with the reason', async () => {
    const pull = { apiVersion: 'backup.kubevirt.io/v1alpha1', kind: 'VirtualMachineBackup', metadata: { name: 'x' } };
    const object = JSON.stringify({ ...pull, spec: { source, mode: 'Pull', pvcName: 'backups' } });
    const { code, stderr } = await cluster.kubectl(['create', '-f', '-'], { input: object });
    assert.deepEqual([code, /spec\.mode.*use Push to a PVC/.test(stderr)], [1, true], stderr);
  });

  await t.test('the first is a full one, of one moment, with the file systems frozen', async () => {
    await write('vdb', 'first', 2048);
    await write('vdc', 'of-both', 4096);
    await ask('one');
    await cluster.untilCondition('vmbackup/one', 'Done');
    assert.equal(await cluster.field('vmbackup', 'one', '.status.type'), 'Full');
    assert.equal(await cluster.field('vmbackup', 'one', '.status.includedVolumes[*].volumeName'), 'data more');
    assert.equal(await said('one', 'Quiesced', 'reason'), 'QuiesceSucceeded');
    const checkpoint = await cluster.field('vmbackup', 'one', '.status.checkpointName');
    assert.equal(await cluster.field('vmbackuptracker', 'nightly', '.status.latestCheckpoint.name'), checkpoint);
    await cluster.until(`vm/${VM}`, '.status.changedBlockTracking.state', 'Enabled');
    assert.deepEqual(await restored('one', 'data', 2048, 6144), ['first', '']);
    assert.deepEqual(await restored('one', 'more', 4096), ['of-both']);
  });

  await t.test('the next has what has changed, and together they are the disk', async () => {
    await write('vdb', 'second', 6144);
    await ask('two');
    await cluster.untilCondition('vmbackup/two', 'Done');
    assert.equal(await cluster.field('vmbackup', 'two', '.status.type'), 'Incremental');
    assert.deepEqual(await restored('two', 'data', 2048, 6144), ['first', 'second']);
    assert.deepEqual(await restored('one', 'data', 2048, 6144), ['first', '']);
    await inGuest('true');
  });

  await t.test('all backups on the PVC are taken out of the cluster, as one archive', async () => {
    const archive = join(cluster.home, 'backups.tar.gz');
    await cluster.must('virtctl', ['vmexport', 'download', 'taken', '--pvc', 'backups', '--output', archive]);
    const checkpoints = await Promise.all(['one', 'two'].map((name) => cluster.field('vmbackup', name, '.status.checkpointName')));
    const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).split('\n');
    assert.deepEqual(
      checkpoints.flatMap((each) => ['data', 'more'].map((disk) => `${VM}/${each}/${disk}.qcow2`)).filter((name) => !names.includes(name)),
      [],
      names.join('\n'),
    );
  });

  await t.test(
    'after kill -9 of the cluster while one is made, the guest runs and the next is right',
    { skip: onRealCluster },
    async () => {
      await inGuest('dd if=/dev/urandom of=/dev/vdc bs=1M seek=4 count=40 conv=fsync 2>/dev/null');
      await ask('cut');
      await untilWritten(cluster.home);
      process.kill(cluster.pid(), 'SIGKILL');
      await cluster.must('virtctl', ['up']);
      const how = await untilOver(
        () => said('cut', 'Done', 'status'),
        () => said('cut', 'Failed', 'message'),
      );
      if (how !== 'True') assert.equal(how, 'virt-handler was restarted while the disks were backed up');
      await write('vdb', 'third', 10_240);
      await ask('three');
      await cluster.untilCondition('vmbackup/three', 'Done');
      assert.equal(await cluster.field('vmbackup', 'three', '.status.type'), 'Incremental');
      assert.deepEqual(await restored('three', 'data', 2048, 6144, 10_240), ['first', 'second', 'third']);
      assert.deepEqual(readdirSync(await cluster.folderOf('backups')).toSorted(), [VM]);
      await inGuest('true');
    },
  );

  await t.test('one of the machine itself is a full one, a backup that goes leaves its files', async () => {
    await ask('alone', { source, skipQuiesce: true });
    await cluster.untilCondition('vmbackup/alone', 'Done');
    assert.equal(await cluster.field('vmbackup', 'alone', '.status.type'), 'Full');
    assert.match(await said('alone', 'Done', 'message'), new RegExp(`^\\d+ MiB in ${VM}/alone-[0-9a-f]{8} on PVC backups$`));
    const folder = join(await cluster.folderOf('backups'), VM);
    const files = readdirSync(folder);
    await cluster.must('kubectl', ['delete', 'vmbackup', '--all']);
    assert.deepEqual(readdirSync(folder), files);
    for (const [pod = ''] of (await cluster.must('kubectl', ['get', 'pods', '-o', 'name'])).matchAll(/^pod\/hp-volume.*$/gm))
      await cluster.untilGone(pod);
  });
});

/** A megabyte of a file is there that does not have its name yet; or it was too fast for us. */
async function untilWritten(home: string): Promise<void> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await systemClock.sleep(2)) {
    for (const part of globSync(join(home, `volumes/*/.${VM}.backup.part/*/more.qcow2`)))
      if (existsSync(part) && readFileSync(part).length > MIB) return;
    if (globSync(join(home, `volumes/*/${VM}/cut-*`)).length > 0) return;
  }
  throw new Error('nothing is being written');
}

/** What either says first. */
async function untilOver(...asks: readonly (() => Promise<string>)[]): Promise<string> {
  for (const deadline = performance.now() + 120_000; performance.now() < deadline; await systemClock.sleep(300))
    for (const ask of asks) {
      const answer = await ask();
      if (answer !== '') return answer;
    }
  throw new Error('the backup is being made for ever');
}

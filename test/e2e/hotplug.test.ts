/** Volumes that come to a guest while it runs, and go again: by an edit, by command, into a CD-ROM drive; and when the Pod of one of them is gone. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const VM = 'plugged';
const MARKER = 'this-was-written-while-it-ran';
const MEDIUM = 'a medium, here';
const SECTORS = String((60 * 2 ** 20) / 512);

function machine(): object {
  const disks = [
    { name: 'root', disk: { bus: 'virtio' } },
    { name: 'cd', cdrom: { bus: 'scsi' } },
  ];
  const volumes = [{ name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } }];
  const domain = { resources: { requests: { memory: '128Mi' } }, devices: { disks } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: VM },
    spec: { running: true, template: { spec: { domain, volumes, terminationGracePeriodSeconds: 20 } } },
  };
}

function claim(name: string, volumeMode: 'Filesystem' | 'Block' = 'Filesystem'): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], volumeMode, resources: { requests: { storage: '64Mi' } } },
  };
}

test('volumes come while the guest runs, and go again', async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny'] });
  const create = (object: object) => cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
  const volume = (name: string, field: string) => `.status.volumeStatus[?(@.name=="${name}")].${field}`;
  const untilReady = (name: string) => cluster.until(`vmi/${VM}`, volume(name, 'phase'), 'Ready');
  const needsRestart = () => cluster.field('vm', VM, '.status.conditions[?(@.type=="RestartRequired")].status');
  const inGuest = async (script: string): Promise<string> => {
    await cluster.untilCondition(`vmi/${VM}`, 'AgentConnected');
    return (await cluster.virtctl(['exec', '--timeout', '150', VM, '--', 'sh', '-c', script], { timeoutMs: 200_000 })).stdout.trim();
  };
  /** A guest sees a device a moment after QEMU has it. */
  const untilGuest = async (script: string, wanted: string): Promise<void> => {
    const deadline = Date.now() + 60_000;
    for (let seen = await inGuest(script); seen !== wanted; seen = await inGuest(script))
      assert.ok(Date.now() < deadline, `${script}: ${seen}, not ${wanted}`);
  };
  /** Until the status of the instance has no word of the volume. */
  const untilOut = async (name: string): Promise<void> => {
    const deadline = Date.now() + 120_000;
    for (let phase = name; phase !== ''; phase = await cluster.field('vmi', VM, volume(name, 'phase')))
      assert.ok(Date.now() < deadline, `volume ${name} is still ${phase}`);
  };
  const sizeOf = (disk: string) => `cat /sys/block/${disk}/size 2>/dev/null || echo none`;
  const write = (text: string, disk: string, at: number) =>
    `echo ${text} | dd of=/dev/${disk} bs=512 seek=${at} conv=sync,fsync 2>/dev/null && echo written`;
  const read = (disk: string, at: number) => `dd if=/dev/${disk} bs=512 skip=${at} count=1 2>/dev/null | tr -d "\\0"`;
  const edit = (...changes: object[]) => cluster.must('kubectl', ['patch', 'vm', VM, '--type', 'json', '-p', JSON.stringify(changes)]);

  for (const name of ['cd', 'extra']) await create(claim(name));
  await create(machine());
  await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');

  await t.test('an edit of the template brings a volume, and takes it', async () => {
    const [disks, volumes] = ['/spec/template/spec/domain/devices/disks', '/spec/template/spec/volumes'];
    await edit(
      { op: 'add', path: `${disks}/-`, value: { name: 'first', disk: { bus: 'scsi' } } },
      { op: 'add', path: `${volumes}/-`, value: { name: 'first', persistentVolumeClaim: { claimName: 'cd', hotpluggable: true } } },
    );
    await untilReady('first');
    await untilGuest(sizeOf('sda'), SECTORS);
    assert.equal(await inGuest(write(MEDIUM, 'sda', 0)), 'written');
    await edit({ op: 'remove', path: `${disks}/2` }, { op: 'remove', path: `${volumes}/1` });
    await untilOut('first');
    await untilGuest(sizeOf('sda'), 'none');
    assert.equal(await needsRestart(), '');
  });

  await t.test('a medium is put into the empty CD-ROM drive of a guest that runs, and taken out', async () => {
    const medium = `head -c ${MEDIUM.length} /dev/sr0 2>/dev/null || echo none`;
    assert.equal(await inGuest(medium), 'none');
    await cluster.must('virtctl', ['addvolume', VM, '--volume-name', 'cd', '--persist']);
    await untilGuest(medium, MEDIUM);
    await untilReady('cd');
    assert.equal(await needsRestart(), '');
    await cluster.must('virtctl', ['removevolume', VM, '--volume-name', 'cd', '--persist']);
    await untilOut('cd');
    await untilGuest(medium, 'none');
    assert.equal(await cluster.field('vm', VM, '.spec.template.spec.domain.devices.disks[1].name'), 'cd');
  });

  await t.test('a volume comes by command, and outlives the Pod that serves it', async () => {
    const said = await cluster.must('virtctl', ['addvolume', VM, '--volume-name', 'extra']);
    assert.equal(said, `Successfully submitted add volume request to VM ${VM} for volume extra\n`);
    await untilReady('extra');
    await untilGuest(sizeOf('sda'), SECTORS);
    assert.equal(await inGuest(write(MARKER, 'sda', 8)), 'written');
    assert.match(await cluster.field('vmi', VM, '.status.conditions[?(@.type=="LiveMigratable")].message'), /extra is hotplugged/);
    const [pod, uid] = await Promise.all(
      ['Name', 'UID'].map((what) => cluster.field('vmi', VM, volume('extra', `hotplugVolume.attachPod${what}`))),
    );
    await cluster.must('kubectl', ['delete', 'pod', pod ?? '']);
    assert.equal(await inGuest(write('later', 'sda', 16)), 'written'); // it waits for the next Pod
    assert.deepEqual([await inGuest(read('sda', 8)), await inGuest(read('sda', 16))], [MARKER, 'later']);
    assert.notEqual(await cluster.field('vmi', VM, volume('extra', 'hotplugVolume.attachPodUID')), uid);
  });

  await t.test('it goes again; what the machine was started with does not', async () => {
    await cluster.must('virtctl', ['removevolume', VM, '--volume-name', 'extra']);
    await untilOut('extra');
    await untilGuest(sizeOf('sda'), 'none');
    assert.match(await cluster.field('vmi', VM, '.status.conditions[?(@.type=="LiveMigratable")].message'), /restart it first/);
    const other = await cluster.virtctl(['removevolume', VM, '--volume-name', 'root']);
    assert.deepEqual([other.code, /not hotpluggable/.test(other.stderr)], [4, true], other.stderr);
  });

  await t.test('a PVC in Block mode comes as a disk of its whole size, keeps its data, and is taken out of the cluster', async () => {
    await create(claim('device', 'Block'));
    await cluster.must('virtctl', ['addvolume', VM, '--volume-name', 'device']);
    await untilReady('device');
    await untilGuest(sizeOf('sda'), String((64 * 2 ** 20) / 512));
    assert.equal(await inGuest(write(MARKER, 'sda', 8)), 'written');
    await cluster.must('virtctl', ['removevolume', VM, '--volume-name', 'device']);
    await untilOut('device');
    const folder = mkdtempSync(join(tmpdir(), 'hotplug-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const output = join(folder, 'device.img');
    await cluster.must('virtctl', ['vmexport', 'download', 'device', '--pvc', 'device', '--format', 'raw', '--output', output]);
    const taken = readFileSync(output);
    assert.deepEqual([taken.length, taken.toString('latin1', 8 * 512, 8 * 512 + MARKER.length)], [64 * 2 ** 20, MARKER]);
    await cluster.must('kubectl', ['delete', 'pvc', 'device']);
  });

  await t.test('a volume that is to stay is there after a restart, on another bus, with its data', async () => {
    await cluster.must('virtctl', ['addvolume', VM, '--volume-name', 'extra', '--bus', 'virtio', '--persist']);
    await untilReady('extra');
    await untilGuest(read('vdb', 8), MARKER);
    assert.equal(await needsRestart(), '');
    const uid = await cluster.field('vmi', VM, '.metadata.uid');
    await cluster.must('virtctl', ['restart', VM]);
    await cluster.untilReplaced(VM, uid);
    await untilReady('extra');
    await untilGuest(read('vdb', 8), MARKER);
    await cluster.must('virtctl', ['removevolume', VM, '--volume-name', 'extra', '--persist']);
    await untilOut('extra');
    await untilGuest(sizeOf('vdb'), 'none');
    await cluster.must('kubectl', ['delete', 'pvc', 'extra']);
  });
});

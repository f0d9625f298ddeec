/** `virtctl run`: from an image to a machine whose disk keeps what its guest writes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { unfinishedName } from '../../src/virt-launcher/new-disk.ts';
import { ConsoleSession, EmbeddedCluster } from './harness.ts';

const VIRTCTL = join(resolve(import.meta.dirname, '../..'), 'bin/virtctl');
const MARKER = 'written-before-the-stop';
/** Behind everything that the image has on the disk. */
const FREE_BLOCK = 2_000_000;

test('run', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const env = { ...process.env, VIRT_HOME: cluster.home, KUBECONFIG: join(cluster.home, 'kubeconfig'), NO_COLOR: '1' };
  const folderOf = async (claim: string) =>
    cluster.field('pv', await cluster.field('pvc', claim, '.spec.volumeName'), '.spec.hostPath.path');

  await t.test('the manifest has the machine and its disk, and nothing is made', async () => {
    const yaml = await cluster.must('virtctl', ['run', 'tiny', '--name', 'dry', '--disk', '1Gi', '--dry-run', '-o', 'yaml']);
    const [claim, vm] = parseAllDocuments(yaml).map((document) => document.toJS());
    assert.deepEqual(claim, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'dry-root', annotations: { 'kubevirt.io/disk-image': 'localhost/guests/tiny:latest' } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    const [root, cloudInit] = vm.spec.template.spec.volumes;
    assert.deepEqual(root, { name: 'root', persistentVolumeClaim: { claimName: 'dry-root' } });
    assert.match(Buffer.from(cloudInit.cloudInitNoCloud.userDataBase64, 'base64').toString(), /^#cloud-config\n[\s\S]*ssh-ed25519 /);
    assert.deepEqual(vm.metadata.annotations, { 'kubevirt.io/login-user': 'root' });
    const json = JSON.parse(await cluster.must('virtctl', ['run', 'tiny', '--name', 'dry', '--disk', '1Gi', '--dry-run', '-o', 'json']));
    assert.deepEqual(json.items, [claim, vm]);
    assert.equal(await cluster.must('kubectl', ['get', 'vm,pvc', '-o', 'name']), '');
    await cluster.must('kubectl', ['create', '--dry-run=server', '-f', '-'], { input: yaml });
  });

  await t.test('run shows how the machine comes up and opens its console; the guest writes to its disk', async () => {
    const args = ['run', 'tiny', '--name', 'keeper', '--memory', '128Mi', '--disk', '2Gi'];
    await using console = new ConsoleSession(spawn(VIRTCTL, args, { env }));
    await console.expect(/✓ vm +keeper is running and waits at its login prompt/);
    await console.expect(/Connected to the console of keeper/);
    await console.login();
    assert.equal(await console.command('cat /sys/block/vda/size'), String((1935 * 2 ** 20) / 512));
    await console.command(`echo ${MARKER} | dd of=/dev/vda bs=512 seek=${FREE_BLOCK} conv=sync,fsync 2>/dev/null`);
    console.type('\x1d');
    await console.expect(/keeper keeps running\. virtctl stop keeper stops it, virtctl delete keeper removes it with its disk\./);
  });

  await t.test('what it wrote is there after a stop and a start, on a larger disk and without the image that it began as', async () => {
    await cluster.must('virtctl', ['stop', 'keeper']);
    await cluster.untilGone('vmi/keeper');
    assert.match(await cluster.must('virtctl', ['resize', 'keeper', '4Gi']), /^disk root of keeper \(PVC keeper-root\) grows to 4Gi/);
    await cluster.until('pvc/keeper-root', '.status.capacity.storage', '4Gi');
    await cluster.must('virtctl', ['image', 'tag', 'localhost/guests/tiny', 'localhost/guests/kept']);
    await cluster.must('virtctl', ['image', 'remove', 'localhost/guests/tiny']);
    await cluster.must('virtctl', ['start', 'keeper']);
    await using console = cluster.console('keeper');
    await console.expect(/guest ready/);
    await console.login();
    await console.command('block() { dd if=/dev/vda bs=512 skip=$1 count=1 2>/dev/null | tr -d "\\0"; }');
    assert.equal(await console.command(`block ${FREE_BLOCK}`), MARKER);
    assert.equal(await console.command('cat /sys/block/vda/size'), String((3870 * 2 ** 20) / 512));
    await cluster.must('virtctl', ['image', 'tag', 'localhost/guests/kept', 'localhost/guests/tiny']);
  });

  await t.test('ls names the image that the disk began as; only what was written takes room', async () => {
    assert.match(await cluster.must('virtctl', ['ls', '-o', 'wide']), /keeper +Running .*localhost\/guests\/tiny:latest\n/);
    const { blocks } = statSync(join(await folderOf('keeper-root'), 'disk.img'));
    assert.ok(blocks * 512 < 256 * 2 ** 20, `${blocks} blocks`);
  });

  await t.test('a half copy is never booted: what a killed try left is written anew', async () => {
    const yaml = await cluster.must('virtctl', ['run', 'tiny', '--name', 'half', '--memory', '128Mi', '--disk', '1Gi', '--dry-run']);
    const [claim = '', machine = ''] = yaml.split('---\n');
    await cluster.must('kubectl', ['create', '-f', '-'], { input: claim });
    await cluster.until('pvc/half-root', '.status.phase', 'Bound');
    const folder = await folderOf('half-root');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, unfinishedName('half root')), Buffer.alloc(2 ** 20, 'half of a disk'));
    await cluster.must('kubectl', ['create', '-f', '-'], { input: machine });
    await using console = cluster.console('half');
    await console.expect(/guest ready/);
    assert.deepEqual(readdirSync(folder), ['disk.img', 'disk.img.format']);
  });

  await t.test('--ephemeral makes no disk', async () => {
    await cluster.must('virtctl', ['run', 'tiny', '--name', 'fleeting', '--memory', '128Mi', '--ephemeral', '--detach']);
    assert.equal(
      await cluster.field('vm', 'fleeting', '.spec.template.spec.volumes[*].containerDisk.image'),
      'localhost/guests/tiny:latest',
    );
    assert.doesNotMatch(await cluster.must('kubectl', ['get', 'pvc', '-o', 'name']), /fleeting/);
    await cluster.must('kubectl', ['delete', 'vm', 'fleeting', '--wait=false']);
  });

  await t.test('a disk that is too small for the image is told by why', async () => {
    await cluster.must('virtctl', ['run', 'tiny', '--name', 'small', '--memory', '128Mi', '--disk', '4Mi', '--detach']);
    await cluster.until('vm/small', '.status.printableStatus', 'CrashLoopBackOff');
    assert.match(
      await cluster.must('virtctl', ['why', 'small']),
      /DISK_TOO_SMALL.*localhost\/guests\/tiny:latest does not fit on its PVC/s,
    );
  });

  await t.test('an image that is not there is named, and nothing is made', async () => {
    const { code, stderr } = await cluster.virtctl(['run', 'localhost/guests/nowhere', '--name', 'lost']);
    assert.match(`${code} ${stderr}`, /^3 error\[IMAGE_MISSING\]: there is no image localhost\/guests\/nowhere on this machine\n.*\nfix: /);
    assert.doesNotMatch(await cluster.must('kubectl', ['get', 'vm,pvc', '-o', 'name']), /lost/);
  });

  await t.test('a machine that is refused leaves no disk behind', async () => {
    const wrong = await cluster.virtctl(['run', 'tiny', '--name', 'refused', '--memory', '128Mi', '--cpus', '-1', '--detach']);
    assert.match(`${wrong.code} ${wrong.stderr}`, /^1 error\[Invalid\]/);
    const again = await cluster.virtctl(['run', 'tiny', '--name', 'keeper', '--detach']);
    assert.match(`${again.code} ${again.stderr}`, /^4 error\[AlreadyExists\]: virtualmachines\.kubevirt\.io "keeper" already exists/);
    assert.doesNotMatch(await cluster.must('kubectl', ['get', 'pvc', '-o', 'name']), /refused/);
  });

  await t.test('with the machine its disk goes', async () => {
    const folder = await folderOf('keeper-root');
    await cluster.must('kubectl', ['delete', 'vm', 'keeper', 'small']);
    for (const claim of ['keeper-root', 'small-root']) await cluster.untilGone(`pvc/${claim}`);
    await cluster.until('pvc/half-root', '.status.phase', 'Bound');
    assert.throws(() => statSync(join(folder, 'disk.img')), { code: 'ENOENT' });
  });
});

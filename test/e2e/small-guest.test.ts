import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type ConsoleSession, EmbeddedCluster } from './harness.ts';

const VM = 'vm-cirros';
/** The published machine, as its authors wrote it: 64M, the well-known image, no time to shut down. */
const PUBLISHED = readFileSync('examples/seeds/001-vm-cirros.yaml', 'utf8')
  .replace('image: localhost/guests/tiny:latest', 'image: kubevirt/cirros-container-disk-demo:latest')
  .replace('memory: 128Mi', 'memory: 64M')
  .replace('terminationGracePeriodSeconds: 10', 'terminationGracePeriodSeconds: 0')
  .replace('running: false', 'running: true');

async function loginAsCirros(console: ConsoleSession): Promise<void> {
  console.type('\n');
  await console.expect(/login as 'cirros' user\. default password: 'gocubsgo'\. use 'sudo' for root\./);
  await console.expect(/login: $/);
  console.type('cirros\n');
  await console.expect(/Password: $/);
  console.type('gocubsgo\n');
  await console.expect(/# /);
}

test('the 32-bit guest: the published machine boots as written, in 64M', async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny32'] });

  await t.test('after its image got the name that the manifest uses', async () => {
    const said = await cluster.must('virtctl', ['image', 'tag', 'localhost/guests/tiny32', 'kubevirt/cirros-container-disk-demo:latest']);
    assert.equal(said, 'docker.io/kubevirt/cirros-container-disk-demo:latest is localhost/guests/tiny32:latest\n');
    assert.match(
      await cluster.must('virtctl', ['image', 'list']),
      /docker\.io\/kubevirt\/cirros-container-disk-demo:latest +[0-9a-f]{12} +\d+Mi/,
    );
    await cluster.must('kubectl', ['create', '-f', '-'], { input: PUBLISHED });
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    await using console = cluster.console(VM);
    assert.match(await console.expect(/guest ready/), /printed from cloud-init userdata/);
    await loginAsCirros(console);
    assert.match(await console.command('uname -m'), /^i[3-6]86$/);
    assert.equal(await console.command('sudo id -u'), '0');
    assert.ok(Number(await console.command("awk '/MemTotal/ { print $2 }' /proc/meminfo")) < 64_000);
    await cluster.must('kubectl', ['delete', 'vm', VM]);
  });

  await t.test('and it sees SATA disks and an e1000 card', async () => {
    const other = PUBLISHED.replaceAll('bus: virtio', 'bus: sata').replace(
      '        devices:\n',
      '        devices:\n          interfaces:\n          - {name: default, model: e1000, masquerade: {}}\n',
    );
    const input = other.replace('      volumes:\n', '      networks:\n      - {name: default, pod: {}}\n      volumes:\n');
    await cluster.must('kubectl', ['create', '-f', '-'], { input });
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    await using console = cluster.console(VM);
    assert.match(await console.expect(/guest ready/), /printed from cloud-init userdata/);
    await loginAsCirros(console);
    assert.equal(await console.command('ls /dev/sd?'), '/dev/sda  /dev/sdb');
    assert.match(await console.command('readlink /sys/class/net/eth0/device/driver'), /\/e1000$/);
    assert.match(await console.command('ip -4 addr show eth0'), /inet 10\./);
  });
});

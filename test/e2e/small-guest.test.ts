import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ConsoleSession, EmbeddedCluster } from './harness.ts';

const VM = 'vm-cirros';
const OVM = 'ovm-cirros';
/** The published machine, but running from the start. */
const PUBLISHED = readFileSync('examples/seeds/001-vm-cirros.yaml', 'utf8').replace('running: false', 'running: true');

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

  await t.test('as it was created and started, although its image cannot be pulled; and the event says so', async () => {
    await cluster.must('kubectl', ['create', '-f', 'examples/seeds/001-vm-cirros.yaml']);
    await cluster.must('virtctl', ['start', VM]);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    await using console = cluster.console(VM);
    assert.match(await console.expect(/guest ready/), /printed from cloud-init userdata/);
    await loginAsCirros(console);
    assert.match(await console.command('uname -m'), /^i[3-6]86$/);
    assert.equal(await console.command('sudo id -u'), '0');
    assert.ok(Number(await console.command("awk '/MemTotal/ { print $2 }' /proc/meminfo")) < 64_000);
    const events = await cluster.must('kubectl', ['get', 'events', '-o', 'custom-columns=:.reason,:.message']);
    assert.match(events, /ImageStandIn +Image "kubevirt\/cirros-container-disk-demo:latest" cannot be pulled: localhost\/guests\/tiny32/);
    await cluster.must('virtctl', ['delete', VM]);
  });

  await t.test('so does the OfflineVirtualMachine, and virtctl up says what stands in for its image', async () => {
    assert.match(
      await cluster.must('virtctl', ['up']),
      /tiny32:latest stands in for kubevirt\/cirros-container-disk-demo and kubevirt\/cirros-reg/,
    );
    await cluster.must('kubectl', ['create', '-f', 'examples/seeds/003-ovm-cirros.yaml']);
    await cluster.must('virtctl', ['start', 'ovm', OVM]);
    await cluster.until(`vm/${OVM}`, '.status.printableStatus', 'Running');
    await using console = cluster.console(OVM);
    assert.match(await console.expect(/guest ready/), /printed from cloud-init userdata/);
    await cluster.must('kubectl', ['delete', 'ovm', OVM]);
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

  await t.test('and it is entered by ssh, as every guest of the catalogue: exec, ssh, scp and cp', async () => {
    await cluster.must('virtctl', ['run', 'tiny32', '--name', 'small', '--ephemeral', '--detach']);
    await cluster.until('vmi/small', '.status.phase', 'Running');
    const { code, stdout, stderr } = await cluster.virtctl(['exec', 'small', '--', 'sh', '-c', 'uname -m; exit 3'], { timeoutMs: 240_000 });
    assert.match(`${code} ${stdout}`, /^3 i[3-6]86\n$/, stderr);
    assert.equal(await cluster.must('virtctl', ['ssh', 'small', 'hostname']), 'small\n');
    const [there, back] = [join(cluster.home, 'there'), join(cluster.home, 'back')];
    writeFileSync(there, 'from here\n');
    await cluster.must('virtctl', ['cp', there, 'small:/tmp/note']);
    await cluster.must('virtctl', ['scp', 'small:/tmp/note', back]);
    assert.equal(readFileSync(back, 'utf8'), 'from here\n');
    t.diagnostic(await cluster.must('virtctl', ['ssh', 'small', 'grep', 'MemAvailable', '/proc/meminfo']));
  });
});

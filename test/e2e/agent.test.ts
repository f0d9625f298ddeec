import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { visit } from '../../examples/typescript/visit.ts';
import { connect } from '../../src/sdk/node/index.ts';
import { EmbeddedCluster, type Result, run } from './harness.ts';

const MACHINE = readFileSync('examples/agent/machine.yaml', 'utf8');
/** The same guest, with its keys by cloud-init. */
const BY_CLOUD_INIT = MACHINE.replaceAll(/\bname: agent$/gm, 'name: cloudy')
  .replace('qemuGuestAgent:\n                users: [root]', 'noCloud: {}')
  .replace(/ {8}- userPassword:[\s\S]*?qemuGuestAgent: \{\}\n/, '')
  .replace('          emptyDisk:\n            capacity: 64Mi', '          cloudInitNoCloud: {userData: "#!/bin/sh\\n"}');

test('the agent of a guest: what it tells, what it does, and ssh with the keys it was given', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-ssh-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const key = makeKey(folder, 'first');
  await using cluster = await EmbeddedCluster.start({ guests: ['agent', 'tiny32'] });
  const subresource = (name: string, what: string) =>
    `/apis/subresources.kubevirt.io/v1/namespaces/${cluster.namespace}/virtualmachineinstances/${name}/${what}`;
  const put = (what: string, body: object): Promise<Result> => {
    const file = join(folder, 'body.json');
    writeFileSync(file, JSON.stringify(body));
    return cluster.kubectl(['replace', '--raw', subresource('agent', what), '-f', file]);
  };
  const login = (identity: string) => [
    '-i',
    identity,
    '--known-hosts',
    '/dev/null',
    '-t',
    '-o StrictHostKeyChecking=no',
    '-t',
    '-o BatchMode=yes',
  ];
  const thawed = () =>
    untilOk(async () => ({
      code: await cluster.field('vmi', 'agent', '.status.fsFreezeStatus').then((text) => text.length),
      stdout: '',
      stderr: '',
    }));
  const inGuest = async (script: string) => (await cluster.must('virtctl', ['exec', 'agent', '--', 'sh', '-c', script])).trim();

  await cluster.must('kubectl', ['create', 'secret', 'generic', 'agent-keys', `--from-file=me=${key}.pub`]);
  await cluster.must('kubectl', ['create', 'secret', 'generic', 'agent-passwords', '--from-literal=root=a rather long password']);
  await cluster.must('kubectl', ['apply', '-f', 'examples/agent/machine.yaml']);

  await t.test('before the agent is there it is asked for in vain, and exec waits for it', async () => {
    await cluster.until('vmi/agent', '.status.phase', 'Running');
    const { code, stderr } = await cluster.virtctl(['guestosinfo', 'agent']);
    assert.equal(code, 1);
    assert.match(stderr, /VMI does not have guest agent connected/);
    assert.equal((await cluster.virtctl(['exec', '--timeout', '120', 'agent', '--', 'true'])).code, 0); // which waits for it
  });

  await t.test('the status shows it, its system and its interfaces', async () => {
    await cluster.untilCondition('vmi/agent', 'AgentConnected');
    assert.equal(await cluster.field('vmi', 'agent', '.status.guestOSInfo.id'), 'kubevirt-ts-guest');
    const [nic] = JSON.parse(await cluster.field('vmi', 'agent', '.status.interfaces'));
    assert.deepEqual([nic.interfaceName, nic.infoSource], ['eth0', 'domain, guest-agent']);
    assert.notEqual(nic.ipAddress, '10.0.2.2'); // the Pod's, at which the guest is reached
    await cluster.until('vm/agent', '.status.conditions[?(@.type=="AgentConnected")].status', 'True');
  });

  await t.test('exec passes input, output and exit code', async () => {
    const ran = await cluster.virtctl(['exec', '-i', 'agent', '--', 'sh', '-c', 'cat; echo oops >&2; exit 3'], { input: 'hello\n' });
    assert.deepEqual([ran.code, ran.stdout, ran.stderr], [3, 'hello\n', 'oops\n']);
    const missing = await cluster.virtctl(['exec', 'agent', '--', '/no/such/program']);
    assert.equal(missing.code, 127);
    assert.match(missing.stderr, /error\[PROGRAM_NOT_FOUND\]: \/no\/such\/program is not there in the guest agent/);
    const late = await cluster.virtctl(['exec', '--timeout', '1', 'agent', '--', 'sleep', '100']);
    assert.equal(late.code, 5);
    const much = await cluster.virtctl(['exec', 'agent', '--', 'sh', '-c', 'head -c 1500000 /dev/zero']);
    assert.equal(much.stdout.length, 1024 * 1024);
    assert.match(much.stderr, /printed more than is shown/);
  });

  await t.test('a program does the same by the SDK: exec, ports, the console, and what happens to machines', async () => {
    const kubevirt = await connect({ kubeconfig: cluster.environment()['KUBECONFIG'] ?? '', namespace: cluster.namespace });
    const signal = AbortSignal.timeout(120_000);
    const lines: string[] = [];
    await visit(kubevirt, 'agent', (line) => lines.push(line), signal);
    const [runs, exec, web, last] = [...lines.slice(0, 3), lines.at(-1)];
    assert.match(runs ?? '', /^agent runs on \S+$/);
    assert.deepEqual([exec, web, last], ['exit 3: Linux', 'HTTP/1.1 200 OK', 'changed agent: Running']);
    await using console = await kubevirt.vm('agent').console({ signal });
    await console.writable.getWriter().write(new TextEncoder().encode('\n'));
    let said = '';
    for await (const bytes of console.readable) {
      said += new TextDecoder().decode(bytes);
      if (said.endsWith('login: ')) break;
    }
    assert.match(await kubevirt.vm('agent').logs({ signal }), /login: /);
    assert.match((await kubevirt.vm('agent').why()).what, /running/);
    await assert.rejects(kubevirt.vm('absent').exec(['true']), { reason: 'NotFound' });
    await assert.rejects(kubevirt.vm('agent').connect(9), /guest/);
  });

  await t.test('guestosinfo, userlist and fslist tell what is in the guest', async () => {
    await inGuest('mke2fs -F /dev/vdb >/dev/null && mkdir -p /data && mount -t ext4 /dev/vdb /data && echo kept > /data/file');
    const info = JSON.parse(await cluster.must('virtctl', ['guestosinfo', 'agent']));
    assert.deepEqual([info.os.id, info.fsFreezeStatus, info.fsInfo.disks[0].mountPoint], ['kubevirt-ts-guest', 'thawed', '/data']);
    const { items } = JSON.parse(await cluster.must('virtctl', ['fslist', 'agent']));
    assert.deepEqual([items.length, items[0].fileSystemType, items[0].totalBytes > 40_000_000], [1, 'ext4', true]);
    await using console = cluster.console('agent');
    console.type('\n');
    await console.expect(/login: $/);
    console.type('root\n');
    await console.expect(/Password: $/);
    console.type('a rather long password\n'); // which the agent has set
    await console.expect(/# /);
    const users = JSON.parse(await cluster.must('virtctl', ['userlist', 'agent'])).items;
    assert.deepEqual(
      users.map(({ userName }: { userName: string }) => userName),
      ['root'],
    );
    console.type('exit\n');
    await console.expect(/login: $/);
  });

  await t.test('a freeze stops writes until the guest is thawed, by somebody or by its deadline', async () => {
    assert.equal((await put('freeze', { unfreezeTimeout: 'soon' })).code, 1);
    assert.equal((await put('freeze', { unfreezeTimeout: '5m0s' })).code, 0);
    await cluster.until('vmi/agent', '.status.fsFreezeStatus', 'frozen');
    assert.equal((await put('unfreeze', {})).code, 0);
    await inGuest('true'); // the agent runs nothing while its guest is frozen
    await thawed();
    assert.equal((await put('freeze', { unfreezeTimeout: '3s' })).code, 0);
    const wrote = await untilOk(() => cluster.virtctl(['exec', 'agent', '--', 'sh', '-c', 'echo more >> /data/file']));
    assert.equal(wrote.code, 0, wrote.stderr);
    await thawed();
    assert.equal(await inGuest('cat /data/file'), 'kept\nmore');
  });

  await t.test('ssh and scp get in with the key of the Secret', async () => {
    await cluster.until('vmi/agent', '.status.conditions[?(@.type=="AccessCredentialsSynchronized")].status', 'True');
    const said = await cluster.virtctl(['ssh', 'root@vm/agent', ...login(key), '-c', 'hostname >&2; echo in; exit 7']);
    assert.deepEqual([said.code, said.stdout], [7, 'in\n']);
    mkdirSync(join(folder, 'tree'));
    const bytes = Buffer.alloc(3_000_000, 'kubevirt');
    writeFileSync(join(folder, 'tree', 'large'), bytes);
    await cluster.must('virtctl', ['scp', '-r', ...login(key), join(folder, 'tree'), `root@vmi/agent/${cluster.namespace}:/tmp/`]);
    assert.equal(await inGuest('wc -c < /tmp/tree/large'), '3000000');
    await cluster.must('virtctl', ['scp', ...login(key), 'root@vm/agent:/tmp/tree/large', join(folder, 'back')]);
    assert.ok(readFileSync(join(folder, 'back')).equals(bytes));
    const old = await cluster.virtctl(['scp', '--local-ssh-opts=-O', ...login(key), join(folder, 'back'), 'root@vm/agent:/tmp/old']);
    assert.equal(old.code, 0, old.stderr); // scp's own protocol, as older clients have it
    const nobody = await cluster.virtctl(['ssh', 'root@vm/nobody', ...login(key), '-c', 'true']);
    assert.equal(nobody.code, 3); // said before ssh is asked
    assert.match(nobody.stderr, /there is no virtual machine "nobody"/);
  });

  await t.test('a key that is replaced gets in, and the old one no more', async () => {
    const second = makeKey(folder, 'second');
    const data = JSON.stringify({ stringData: { me: readFileSync(`${second}.pub`, 'utf8') } });
    await cluster.must('kubectl', ['patch', 'secret', 'agent-keys', '-p', data]);
    const got = await untilOk(() => cluster.virtctl(['ssh', 'root@vm/agent', ...login(second), '-c', 'true']));
    assert.equal(got.code, 0, got.stderr);
    assert.equal((await cluster.virtctl(['ssh', 'root@vm/agent', ...login(key), '-c', 'true'])).code, 255);
  });

  await t.test('a soft reboot is the agent’s: same instance, same QEMU', async () => {
    const [uid, pids] = [await cluster.field('vmi', 'agent', '.metadata.uid'), cluster.guestPids()];
    await inGuest('touch /run/before');
    await cluster.must('virtctl', ['soft-reboot', 'agent']);
    const rebooted = await untilOk(() => cluster.virtctl(['exec', 'agent', '--', 'test', '!', '-e', '/run/before']));
    assert.equal(rebooted.code, 0);
    assert.deepEqual([await cluster.field('vmi', 'agent', '.metadata.uid'), cluster.guestPids()], [uid, pids]);
    // The guest has forgotten its keys, and gets them again.
    const got = await untilOk(() => cluster.virtctl(['ssh', 'root@vm/agent', ...login(join(folder, 'second')), '-c', 'true']));
    assert.equal(got.code, 0, got.stderr);
  });

  await t.test('keys come by cloud-init, too', async () => {
    await cluster.must('kubectl', ['apply', '-f', '-'], { input: BY_CLOUD_INIT });
    const got = await untilOk(() => cluster.virtctl(['ssh', 'root@vm/cloudy', ...login(join(folder, 'second')), '-c', 'hostname']));
    assert.deepEqual([got.code, got.stdout], [0, 'cloudy\n']);
  });

  await t.test('without an agent there is none', async () => {
    const mute = readFileSync('examples/vm.yaml', 'utf8').replaceAll('hello', 'mute').replace('guests/tiny:', 'guests/tiny32:');
    await cluster.must('kubectl', ['apply', '-f', '-'], { input: mute });
    await cluster.until('vmi/mute', '.status.phase', 'Running');
    await using console = cluster.console('mute');
    await console.expect(/guest ready/);
    assert.equal(await cluster.field('vmi', 'mute', '.status.conditions[?(@.type=="AgentConnected")].status'), '');
    const { code, stderr } = await cluster.kubectl(['get', '--raw', subresource('mute', 'userlist')]);
    assert.equal(code, 1);
    assert.match(stderr, /InternalError|does not have guest agent/);
  });
});

function makeKey(folder: string, name: string): string {
  const path = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', path], { stdio: 'ignore' });
  return path;
}

/** Again until it works; the last answer when it does not within two minutes. */
async function untilOk(attempt: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + 120_000;
  while (true) {
    const result = await attempt();
    if (result.code === 0 || performance.now() > deadline) return result;
    await run('sleep', ['0.5']);
  }
}

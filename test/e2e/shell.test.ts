/** From a name to a shell: one word enters a machine, by its agent or by ssh with the key of the data folder. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { whyNotIsolated } from '../../src/base/node/isolated-command.ts';
import { findVirtiofsd } from '../../src/qemu/find-virtiofsd.ts';
import { until } from '../../src/testing/until.ts';
import { ensureSshKey } from '../../src/virtctl/ssh/ssh-key.ts';
import { EmbeddedCluster } from './harness.ts';

const LOGIN = ['--known-hosts', '/dev/null', '-t', '-o StrictHostKeyChecking=no', '-t', '-o BatchMode=yes'];

type Machine = { readonly name: string; readonly guest: string; readonly memory: string; readonly user: string; readonly userData: string };

/** A machine and a Secret with a key that comes beside its cloud-init data. */
function manifest({ name, guest, memory, user, userData }: Machine, publicKey: string): string {
  const template = {
    metadata: { annotations: { 'kubevirt.io/login-user': user } },
    spec: {
      terminationGracePeriodSeconds: 10,
      domain: { resources: { requests: { memory } }, devices: { disks: [disk('root'), disk('first')] } },
      accessCredentials: [{ sshPublicKey: { source: { secret: { secretName: 'key' } }, propagationMethod: { noCloud: {} } } }],
      volumes: [
        { name: 'root', containerDisk: { image: `localhost/guests/${guest}:latest` } },
        { name: 'first', cloudInitNoCloud: { userData } },
      ],
    },
  };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { key: publicKey } };
  const vm = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name }, spec: { runStrategy: 'Always', template } };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [secret, vm] });
}

function disk(name: string): object {
  return { name, disk: { bus: 'virtio' } };
}

test('one word enters a machine', async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny'] });
  const { publicKey } = await ensureSshKey(cluster.home);
  const userData = `#cloud-config\nusers:\n  - name: me\n    ssh_authorized_keys:\n      - ${publicKey}\n`;
  const inside = { name: 'inside', guest: 'tiny', memory: '128Mi', user: 'me', userData };
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: manifest(inside, publicKey) });

  await t.test('a program waits for a way in, says so, and its exit code is ours', async () => {
    const script = 'id -un; echo aside >&2; exit 7';
    const { code, stdout, stderr } = await cluster.virtctl(['shell', 'inside', '-u', 'root', '--', 'sh', '-c', script]);
    assert.deepEqual([code, stdout], [7, 'root\n'], stderr);
    assert.match(stderr, /^Waiting: inside [\s\S]*\naside\n$/);
  });

  await t.test('a login is by ssh with our key, as the user of the annotation; nobody has to name the only machine', async () => {
    const { code, stdout, stderr } = await cluster.virtctl(['shell'], { input: 'echo "$SSH_CONNECTION" | wc -w; id -un; exit 4\n' });
    assert.deepEqual([code, stdout.trim().split(/\s+/)], [4, ['4', 'me']], stderr);
  });

  await t.test('ssh tries the same key when none is named', async () => {
    const { code, stdout, stderr } = await cluster.virtctl(['ssh', 'root@vm/inside', ...LOGIN, '-c', 'hostname; exit 3']);
    assert.deepEqual([code, stdout], [3, 'inside\n'], stderr);
  });

  await t.test('by agent and by ssh a program runs as the same user, and its words stay as they are', async () => {
    await cluster.untilCondition('vmi/inside', 'AgentConnected');
    const words = ['sh', '-c', 'echo "$(id -un) $HOME $1"', 'x', `it's  "two"`];
    const byAgent = await cluster.virtctl(['shell', 'inside', '--', ...words]);
    await cluster.must('virtctl', ['ssh', 'root@vm/inside', ...LOGIN, '-c', 'killall qemu-ga']);
    const agent = () => cluster.field('vmi', 'inside', '.status.conditions[?(@.type=="AgentConnected")].status');
    await until(async () => (await agent()) === '', 'the agent to be gone');
    const bySsh = await cluster.virtctl(['shell', 'inside', '--', ...words]);
    assert.deepEqual([byAgent.stdout, bySsh.stdout], [`me /home/me it's  "two"\n`, `me /home/me it's  "two"\n`], bySsh.stderr);
  });

  await t.test(
    'a shared folder is the same on both sides, read-only where it was said, and its links lead to nothing of the host',
    async (t) => {
      const whyNot = (await whyNotIsolated()) ?? (findVirtiofsd() ? undefined : 'virtiofsd is not installed');
      if (whyNot !== undefined) return t.skip(whyNot);
      const folder = mkdtempSync(join(tmpdir(), 'shared-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const [inside, outside] = [join(folder, 'inside'), join(folder, 'outside')];
      for (const path of [inside, outside]) mkdirSync(path);
      chmodSync(folder, 0o755);
      chmodSync(inside, 0o777); // for the user of the machine, when we are root
      writeFileSync(join(outside, 'secret'), 'of the host');
      writeFileSync(join(inside, 'note'), 'from the host\n');
      symlinkSync('../outside/secret', join(inside, 'up'));
      symlinkSync(join(outside, 'secret'), join(inside, 'away'));
      const script = [
        'cat /work/note; echo from the guest > /work/answer',
        'cat /work/up /work/away /see/up 2>/dev/null && echo outside',
        'mount -o remount,rw /see; touch /see/x 2>/dev/null && echo written; rm /see/note 2>/dev/null && echo removed; true',
      ].join('; ');
      const mounts = ['--mount', `${inside}:/work`, '--mount', `${inside}:/see:ro`];
      const said = await cluster.must('virtctl', ['run', '--rm', 'tiny', ...mounts, '--', 'sh', '-c', script]);
      assert.equal(said, 'from the host\n');
      assert.equal(readFileSync(join(inside, 'answer'), 'utf8'), 'from the guest\n');
      assert.deepEqual(readdirSync(inside).sort(), ['answer', 'away', 'note', 'up']);
      await until(async () => (await cluster.must('kubectl', ['get', 'pv', '-o', 'name'])) === '', 'the volumes to go with the machine');
    },
  );

  await t.test('a machine that does not run is not waited for longer than was asked', async () => {
    await cluster.must('virtctl', ['stop', 'inside']);
    await cluster.until('vm/inside', '.status.printableStatus', 'Stopped');
    const { code, stderr } = await cluster.virtctl(['shell', 'inside', '--timeout', '0', '--', 'true']);
    assert.match(`${code} ${stderr}`, /^5 error\[NOT_ENTERED\]: .*\nwhy: inside is Stopped\nfix: virtctl start inside starts it/);
  });
});

const isSoak = process.env['DEBIAN_GUEST'] !== undefined;
test('an installed Debian is entered with the same word', {
  skip: !isSoak && 'emulated, it boots for minutes: npm run test:soak',
}, async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny', 'debian'] });
  const { publicKey } = await ensureSshKey(cluster.home);
  const userData = '#cloud-config\nruncmd:\n  - [touch, /run/was-here]\n';
  const input = manifest({ name: 'real', guest: 'debian', memory: '512Mi', user: 'debian', userData }, publicKey);
  await cluster.must('kubectl', ['apply', '-f', '-'], { input });
  const started = performance.now();

  await t.test('by ssh, as the user of its cloud-init, under its own name', async () => {
    const { code, stdout, stderr } = await cluster.virtctl(['shell', '--timeout', '15'], {
      input: 'id -un; hostname; sudo id -un; exit 4\n',
    });
    assert.deepEqual([code, stdout.split('\n').slice(-4)], [4, ['debian', 'real', 'root', '']], stderr); // behind the message of the day
    t.diagnostic(`ssh let somebody in after ${Math.round((performance.now() - started) / 1000)} s`);
  });

  await t.test('it says that it is ready when cloud-init has done all of it, and its agent answers', async () => {
    await using console = cluster.console('real');
    await console.expect(/guest ready/, 600_000);
    t.diagnostic(`ready after ${Math.round((performance.now() - started) / 1000)} s`);
    await cluster.untilCondition('vmi/real', 'AgentConnected');
    const said = await cluster.must('virtctl', ['shell', 'real', '--', 'sh', '-c', 'ls /run/was-here; systemctl is-system-running']);
    assert.equal(said, '/run/was-here\nrunning\n');
  });

  await t.test('exec, ssh, scp and cp work as in the demo guest', async () => {
    assert.equal(await cluster.must('virtctl', ['exec', 'real', '--', 'id', '-un']), 'root\n');
    assert.equal(await cluster.must('virtctl', ['ssh', 'real', 'id', '-un']), 'debian\n');
    const [there, back] = [join(cluster.home, 'there'), join(cluster.home, 'back')];
    writeFileSync(there, 'from here\n');
    await cluster.must('virtctl', ['cp', there, 'real:/tmp/note']);
    await cluster.must('virtctl', ['scp', 'real:/tmp/note', back]);
    assert.equal(readFileSync(back, 'utf8'), 'from here\n');
  });
});

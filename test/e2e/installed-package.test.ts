/** The npm package, as `npm pack` makes it: installed into an empty prefix by an ordinary user, without the clone. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { LABEL_VMI_ID } from '../../src/api/kubevirt/names.ts';
import { until } from '../../src/testing/until.ts';
import { ensureKubectls } from '../../tools/kubectl/fetch.ts';
import { packNpm } from '../../tools/release/pack-npm.ts';
import { run } from './harness.ts';
import { hasSubordinates, OrdinaryUser } from './ordinary-user.ts';
import { GUESTLESS } from './published-features.ts';

const NEWER = 'v0.9.0';
const HELLO = /Hello from a virtual machine/;
/** A guest that is there answers long before. */
const ANSWER_MS = 5_000;

test('from npm install to a prompt and back to nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-packed-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const tarball = await packNpm({ into: folder, commit: '0123456789abcdef' });
  await using user = new OrdinaryUser();
  chmodSync(folder, 0o755);
  await install(user, tarball);

  assert.equal(
    await user.must('virtctl', ['version', '--client']),
    'Client Version: v0.1.0\nClient Release: npm package, commit 0123456789ab\n',
  );
  {
    await using docs = user.session('virtctl', ['docs', '--no-open']);
    const [address = ''] = /http:\S+/.exec(await docs.expect(/http:\S+\n/)) ?? [];
    assert.match(await (await fetch(`${address}tasks-images.html`)).text(), /<title>Images - kubevirt-ts<\/title>/);
  }
  assert.match(await user.must('virtctl', ['up']), /✓ image +localhost\/guests\/tiny:latest, imported/);
  {
    await using console = user.session('virtctl', ['run', 'tiny', '--name', 'first']);
    await console.expect(/Connected to the console of first/);
    await console.login();
    console.type('\x1d');
    await console.expect(/first keeps running/);
  }
  if (hasSubordinates) assert.ok(user.runsApart('qemu-system-x86_64'), 'a guest is not who started it');
  else t.diagnostic('guests are this user: uidmap is not installed, or this is not root');
  {
    await using console = user.session('virtctl', ['console', 'first']);
    console.type('\n');
    await console.expect(/# /);
    assert.equal(await console.command('id -un'), 'root');
  }
  await t.test('another user of this machine has a cluster beside it, and neither notices the other', async (t) => {
    await beside({ t, user, tarball });
  });
  await t.test('an upgrade to another release keeps guest and objects, and its data is refused by the one of before', async () => {
    await betweenReleases({ user, older: tarball, newer: await packNpm({ into: folder, commit: 'fedcba9876543210', version: NEWER }) });
  });
  await user.must('virtctl', ['down', '--purge']);
  await user.must('npm', ['uninstall', '-g', '--prefix', join(user.home, 'npm'), 'kubevirt-ts']);
  assert.deepEqual(user.processes(), []);
  assert.deepEqual(readdirSync(join(user.home, '.local/share')), []);
  assert.deepEqual(readdirSync(join(user.home, 'npm/lib/node_modules')), []);
});

/** Offline: nothing but the tarball is needed. */
function install(user: OrdinaryUser, tarball: string): Promise<string> {
  return user.must('npm', ['install', '-g', '--offline', '--prefix', join(user.home, 'npm'), tarball]);
}

type Beside = { readonly t: TestContext; readonly user: OrdinaryUser; readonly tarball: string };

/** The whole life of a second cluster, while the guest of the first one serves a page. */
async function beside({ t, user, tarball }: Beside): Promise<void> {
  await user.must('virtctl', ['expose', 'vm', 'first', '--name', 'web', '--port', '80', '--type', 'NodePort']);
  await using neighbour = new OrdinaryUser();
  await install(neighbour, tarball);
  await neighbour.must('virtctl', ['up']);
  const nodePort = Number(await kubectl(user, ['get', 'svc', 'web', '-o', 'jsonpath={.spec.ports[0].nodePort}']));
  await kubectl(neighbour, ['create', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: [serviceAt(nodePort), GUESTLESS_MACHINE] });
  await kubectl(neighbour, ['wait', 'vm/second', '--for=condition=Ready', '--timeout=120s']);

  assert.deepEqual([await machines(user), await machines(neighbour)], [['first'], ['second']]);
  if (hasNetwork(user) && hasNetwork(neighbour)) {
    const [own, others] = [await hostAddress(user, 'first'), await hostAddress(neighbour, 'second')];
    assert.notEqual(own, others);
    assert.match(await (await fetch(own)).text(), HELLO);
    await assert.rejects(fetch(others, { signal: AbortSignal.timeout(ANSWER_MS) }), 'the guest of the other user is not reached');
  } else t.diagnostic('no namespace here: NodePorts are not served');
  const before = guests(user);
  if (hasSubordinates) assert.ok(before.length > 0);

  await neighbour.must('virtctl', ['down', '--purge']);
  assert.deepEqual([neighbour.processes(), readdirSync(join(neighbour.home, '.local/share'))], [[], []]);
  assert.deepEqual([await machines(user), guests(user)], [['first'], before]);
  if (hasNetwork(user)) assert.match(await (await fetch(await hostAddress(user, 'first'))).text(), HELLO);
  await kubectl(user, ['delete', 'svc', 'web']);
}

const GUESTLESS_MACHINE = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'second' },
  spec: { runStrategy: 'Always', template: { spec: GUESTLESS } },
};

function serviceAt(nodePort: number): object {
  const spec = { type: 'NodePort', selector: { [LABEL_VMI_ID]: 'second' }, ports: [{ port: 80, nodePort }] };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec };
}

/** Their processes: those of a guest that was not started again are the same. */
function guests(user: OrdinaryUser): string[] {
  return user.processes().filter((command) => /^\S*qemu-system-/.test(command));
}

/** Those of all namespaces. */
async function machines(user: OrdinaryUser): Promise<string[]> {
  const said = await user.must('virtctl', ['ls', '-A']);
  return said.split('\n').flatMap((line) => /^default +(\S+) +Running /.exec(line)?.[1] ?? []);
}

/** As `virtctl ls` says it, once it is served. */
async function hostAddress(user: OrdinaryUser, name: string): Promise<string> {
  let address: string | undefined;
  await until(async () => {
    [address] = new RegExp(`(?<=^${name} .*)http://127\\.0\\.0\\.1:\\d+`, 'm').exec(await user.must('virtctl', ['ls'])) ?? [];
    return address !== undefined;
  }, `an address of ${name}`);
  return address as string; // until says so
}

function hasNetwork(user: OrdinaryUser): boolean {
  return existsSync(join(user.home, '.local/share/kubevirt-ts/run/network.json'));
}

/** As root, who has a kubectl in any case, with what the user may. */
async function kubectl(user: OrdinaryUser, args: readonly string[], input?: object): Promise<string> {
  const config = join(user.home, '.local/share/kubevirt-ts/kubeconfig');
  const { code, stdout, stderr } = await run(ensureKubectls().current, ['--kubeconfig', config, ...args], {
    ...(input && { input: JSON.stringify(input) }),
  });
  assert.equal(code, 0, stderr);
  return stdout;
}

type Releases = { readonly user: OrdinaryUser; readonly older: string; readonly newer: string };

/** As docs/tasks/upgrade.md says it, and the way back. */
async function betweenReleases({ user, older, newer }: Releases): Promise<void> {
  const inGuest = (...command: string[]) => user.must('virtctl', ['shell', 'first', '--timeout', '4', '--', ...command]);
  const bootId = () => inGuest('cat', '/proc/sys/kernel/random/boot_id');
  const uptime = async () => Number((await inGuest('cat', '/proc/uptime')).split(' ')[0]);
  const before = { bootId: await bootId(), uptime: await uptime() };

  await install(user, newer);
  assert.match(await user.must('virtctl', ['version']), /Client Version: v0\.9\.0[\s\S]*Server Version: v0\.1\.0/);
  const said = await user.must('virtctl', ['upgrade']);
  assert.match(said, /✓ stop +v0\.1\.0 ended; running on without it: VirtualMachineInstance first in default /);
  assert.match(said, /\n {2}v0\.1\.0 is now v0\.9\.0; 1 guest kept running\n/);
  const [, backup = ''] = /the objects as they were: (\S+)\n/.exec(said) ?? [];
  assert.equal(basename(backup).startsWith('before-upgrade-of-v0.1.0-'), true, backup);
  assert.match(await user.must('virtctl', ['version']), /Server Version: v0\.9\.0/);
  assert.equal(await bootId(), before.bootId);
  assert.ok((await uptime()) > before.uptime, 'the guest went on');
  assert.match(await user.must('virtctl', ['ls']), /^first +Running /m);

  await install(user, older);
  const refused = /^error\[DATA_TOO_NEW\]: .*belongs to release v0\.9\.0/;
  assert.match((await user.run('virtctl', ['upgrade'])).stderr, refused);
  await user.must('virtctl', ['down']);
  const { code, stderr } = await user.run('virtctl', ['up']);
  assert.match(stderr, refused);
  assert.notEqual(code, 0);

  await user.must('virtctl', ['restore', backup]);
  await user.must('virtctl', ['up']);
  assert.match(await user.must('virtctl', ['ls']), /^first /m);
}

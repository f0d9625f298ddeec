/** The npm package, as `npm pack` makes it: installed into an empty prefix by an ordinary user, without the clone. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { packNpm } from '../../tools/release/pack-npm.ts';
import { hasSubordinates, OrdinaryUser } from './ordinary-user.ts';

const NEWER = 'v0.9.0';

test('from npm install to a prompt and back to nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-packed-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const tarball = await packNpm({ into: folder, commit: '0123456789abcdef' });
  await using user = new OrdinaryUser();
  chmodSync(folder, 0o755);
  // Offline: nothing but the tarball is needed.
  await user.must('npm', ['install', '-g', '--offline', '--prefix', join(user.home, 'npm'), tarball]);

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
  await t.test('an upgrade to another release keeps guest and objects, and its data is refused by the one of before', async () => {
    await betweenReleases({ user, older: tarball, newer: await packNpm({ into: folder, commit: 'fedcba9876543210', version: NEWER }) });
  });
  await user.must('virtctl', ['down', '--purge']);
  await user.must('npm', ['uninstall', '-g', '--prefix', join(user.home, 'npm'), 'kubevirt-ts']);
  assert.deepEqual(user.processes(), []);
  assert.deepEqual(readdirSync(join(user.home, '.local/share')), []);
  assert.deepEqual(readdirSync(join(user.home, 'npm/lib/node_modules')), []);
});

type Releases = { readonly user: OrdinaryUser; readonly older: string; readonly newer: string };

/** As docs/tasks/upgrade.md says it, and the way back. */
async function betweenReleases({ user, older, newer }: Releases): Promise<void> {
  const install = (tarball: string) => user.must('npm', ['install', '-g', '--offline', '--prefix', join(user.home, 'npm'), tarball]);
  const inGuest = (...command: string[]) => user.must('virtctl', ['shell', 'first', '--timeout', '4', '--', ...command]);
  const bootId = () => inGuest('cat', '/proc/sys/kernel/random/boot_id');
  const uptime = async () => Number((await inGuest('cat', '/proc/uptime')).split(' ')[0]);
  const before = { bootId: await bootId(), uptime: await uptime() };

  await install(newer);
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

  await install(older);
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

/** The npm package, as `npm pack` makes it: installed into an empty prefix by an ordinary user, without the clone. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { packNpm } from '../../tools/release/pack-npm.ts';
import { hasSubordinates, OrdinaryUser } from './ordinary-user.ts';

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
  await user.must('virtctl', ['down', '--purge']);
  await user.must('npm', ['uninstall', '-g', '--prefix', join(user.home, 'npm'), 'kubevirt-ts']);
  assert.deepEqual(user.processes(), []);
  assert.deepEqual(readdirSync(join(user.home, '.local/share')), []);
  assert.deepEqual(readdirSync(join(user.home, 'npm/lib/node_modules')), []);
});

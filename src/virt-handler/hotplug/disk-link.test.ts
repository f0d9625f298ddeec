import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ATTACH_SOCKET, pluggedNames } from '../../api/launcher/attachment.ts';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { diskLinkOf, linkDisk, unlinkDisk } from './disk-link.ts';

async function world(t: TestContext) {
  const kubeletRoot = await temporaryFolder(t);
  const folder = join(kubeletRoot, 'qemu');
  const pod = join(kubeletRoot, 'pods/u1/volumes/kubernetes.io~empty-dir/public');
  for (const each of [folder, pod]) mkdirSync(each, { recursive: true });
  const listen = async () => {
    const server = createServer((socket) => socket.end('hello'));
    rmSync(join(pod, ATTACH_SOCKET), { force: true });
    await new Promise<void>((resolve) => server.listen(join(pod, ATTACH_SOCKET), resolve));
    t.after(() => server.close());
  };
  return { pod, listen, ends: { kubeletRoot, folder, volume: 'data', attachPodUid: 'u1' } };
}

test('a socket is linked, can be connected to, and is linked again when its Pod has another', async (t) => {
  const { listen, ends } = await world(t);
  assert.equal(await diskLinkOf(ends), 'absent');
  await listen();
  assert.equal(await diskLinkOf(ends), 'missing');
  linkDisk(ends);
  assert.equal(await diskLinkOf(ends), 'linked');
  const said = await new Promise((resolve) =>
    connect(join(ends.folder, pluggedNames('data').socket)).on('data', (data) => resolve(String(data))),
  );
  assert.equal(said, 'hello');
  await listen();
  assert.equal(await diskLinkOf(ends), 'stale');
  linkDisk(ends);
  assert.equal(await diskLinkOf(ends), 'linked');
  unlinkDisk(ends);
  assert.equal(await diskLinkOf(ends), 'missing');
});

test('what is no socket is not there, and a uid that is a path leads nowhere', async (t) => {
  const { pod, ends } = await world(t);
  writeFileSync(join(ends.kubeletRoot, 'secret'), '');
  symlinkSync(join(ends.kubeletRoot, 'secret'), join(pod, ATTACH_SOCKET));
  assert.equal(await diskLinkOf(ends), 'absent');
  const away = { ...ends, attachPodUid: '../u1' };
  linkDisk(away);
  assert.equal(await diskLinkOf(away), 'absent');
});

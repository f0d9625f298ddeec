/** The disk that volumes are on gets full while one is filled, copied or grown: the reason is told, nothing half-made is left, and it goes on when there is room. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { FolderCopies } from '../../src/control-plane/volumes/folder-copies.ts';
import { guardedFetch } from '../../src/images/guarded-fetch.ts';
import { startFileServer } from '../../src/images/import/file-server.testing.ts';
import { connectQmp } from '../../src/qemu/qmp/client.ts';
import { startQemu } from '../../src/qemu/qmp/qemu.testing.ts';
import { noDumps } from '../../src/virt-handler/no-dumps.testing.ts';
import { performCommand } from '../../src/virt-handler/vmi/perform-command.ts';
import { DumpWriter } from '../../src/virt-launcher/dump-file.ts';
import { fillClaim } from '../../src/virt-launcher/import/fill-claim.ts';

const MIB = 2 ** 20;
const options = { skip: process.getuid?.() === 0 ? false : 'only root can mount a small disk' };

/** A small disk, and a way to make it larger. */
function smallDisk(t: TestContext, mebibytes: number) {
  const path = mkdtempSync(join(tmpdir(), 'full-volumes-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path]);
  t.after(() => {
    execFileSync('umount', ['-l', path]);
    rmSync(path, { recursive: true });
  });
  return { path, makeRoom: () => execFileSync('mount', ['-o', 'remount,size=64m', path]) };
}

test('an import says that the PVC is full, leaves no disk, and is whole when there is room', options, async (t) => {
  const { path, makeRoom } = smallDisk(t, 2);
  const disk = randomBytes(4 * MIB);
  const server = await startFileServer(t, disk);
  const fill = () =>
    fillClaim({
      task: { from: 'http', url: `${server.origin}/disk`, sizeBytes: 8 * MIB },
      folder: path,
      fetch: guardedFetch(server.origin),
      receive: () => Promise.reject(new Error('nobody sends anything')),
      searchPath: process.env['PATH'],
      clock: systemClock,
      signal: new AbortController().signal,
      onProgress: () => {},
    });
  await assert.rejects(fill(), /there is no space for the download/);
  assert.equal(existsSync(join(path, 'disk.img')), false);
  makeRoom();
  await fill();
  assert.deepEqual(readFileSync(join(path, 'disk.img')).subarray(0, disk.length), disk);
});

test('a snapshot that does not fit says so, leaves nothing, and is whole when there is room', options, async (t) => {
  const { path, makeRoom } = smallDisk(t, 6);
  const [from, into] = [join(path, 'pvc'), join(path, 'snapshot')];
  mkdirSync(from);
  const disk = randomBytes(4 * MIB);
  writeFileSync(join(from, 'disk.img'), disk);
  const copies = new FolderCopies(systemClock);
  const copied = async () => {
    copies.begin(from, into);
    for (;;) {
      const state = await copies.stateOf(into);
      if (state.is === 'whole' || state.is === 'failed') return state;
      await systemClock.sleep(20);
    }
  };
  const failed = await copied();
  assert.match(failed.is === 'failed' ? failed.message : failed.is, /no space left/i);
  assert.deepEqual(readdirSync(path), ['pvc']);
  makeRoom();
  await copies.stop();
  const again = new FolderCopies(systemClock);
  again.begin(from, into);
  for (;;) {
    if ((await again.stateOf(into)).is === 'whole') break;
    await systemClock.sleep(20);
  }
  assert.deepEqual(readFileSync(join(into, 'disk.img')), disk);
});

test('a memory dump is refused where it does not fit, and one that somebody takes the room of leaves nothing', options, (t) => {
  const { path, makeRoom } = smallDisk(t, 4);
  const [end, memory] = ['e'.repeat(32), randomBytes(3 * MIB)];
  const head = { fileName: 'db.memory.dump', bytes: 3 * MIB, end };
  assert.throws(() => new DumpWriter(path, { ...head, bytes: 5 * MIB }), /the PVC has 4 MiB left, the dump needs 5 MiB/);
  const first = new DumpWriter(path, head);
  writeFileSync(join(path, 'filler'), Buffer.alloc(2 * MIB, 1));
  assert.throws(() => first.take(memory), /ENOSPC/);
  first.giveUp();
  assert.deepEqual(readdirSync(path), ['filler']);
  makeRoom();
  const second = new DumpWriter(path, head);
  second.take(Buffer.concat([memory, Buffer.from(end)]));
  second.finish();
  assert.deepEqual(readFileSync(join(path, head.fileName)), memory);
});

test('a disk that cannot grow is as it was, and grows when there is room', options, async (t) => {
  const { path, makeRoom } = smallDisk(t, 1);
  const file = join(path, 'disk.img');
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', '-o', 'cluster_size=512', file, '1M']);
  const node = JSON.stringify({ driver: 'qcow2', 'node-name': 'image1', file: { driver: 'file', filename: file } });
  const folder = mkdtempSync(join(tmpdir(), 'full-volumes-qemu-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { qmpPath } = await startQemu(t, { machine: 'q35', folder, args: ['-blockdev', node, '-device', 'virtio-blk-pci,drive=image1'] });
  const qmp = await connectQmp({ path: qmpPath });
  t.after(() => qmp.close());
  writeFileSync(join(path, 'filler'), Buffer.alloc(MIB - statSync(file).blocks * 512 - 64 * 1024));
  const noWay = () => Promise.reject(new Error('no way'));
  const performer = { qmp, clock: systemClock, openWay: noWay, openStore: noWay, dumps: noDumps, report: () => {} };
  const grow = () => performCommand(performer, { name: 'resize', node: 'image1', bytes: 8192 * MIB });
  await assert.rejects(grow(), /No space left on device/);
  const size = () => JSON.parse(execFileSync('qemu-img', ['info', '-U', '--output', 'json', file], { encoding: 'utf8' }))['virtual-size'];
  assert.equal(size(), MIB);
  makeRoom();
  await grow();
  assert.equal(size(), 8192 * MIB);
});

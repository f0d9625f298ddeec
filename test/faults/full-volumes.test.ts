/** The disk that volumes are on gets full while one is filled, copied or grown: the reason is told, nothing half-made is left, and it goes on when there is room. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { DISK_BYTES_HEADER } from '../../src/api/exporter/exporter.ts';
import { systemClock } from '../../src/base/clock.ts';
import { FolderCopies } from '../../src/control-plane/volumes/folder-copies.ts';
import { guardedFetch } from '../../src/images/guarded-fetch.ts';
import { startFileServer } from '../../src/images/import/file-server.testing.ts';
import { connectQmp } from '../../src/qemu/qmp/client.ts';
import { startQemu } from '../../src/qemu/qmp/qemu.testing.ts';
import { noDumps } from '../../src/virt-handler/no-dumps.testing.ts';
import { performCommand } from '../../src/virt-handler/vmi/perform-command.ts';
import { openContainerDisk } from '../../src/virt-launcher/container-disk.ts';
import { DumpWriter } from '../../src/virt-launcher/dump-file.ts';
import { fillClaim } from '../../src/virt-launcher/import/fill-claim.ts';
import { UploadFile } from '../../src/virt-launcher/import/upload-file.ts';
import { MemoryWriter, openMemory } from '../../src/virt-launcher/memory-file.ts';
import { MachineFileWriter, readMachineFile } from '../../src/virtctl/export/machine-file.ts';
import { saveDisk } from '../../src/virtctl/export/save-disk.ts';
import { type DiskSource, takePieces } from '../../src/virtctl/export/take-pieces.ts';

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

test('an upload says that the PVC is full, keeps what has arrived, and goes on there when there is room', options, async (t) => {
  const { path, makeRoom } = smallDisk(t, 2);
  const disk = randomBytes(4 * MIB);
  const file = new UploadFile({ folder: path, maxBytes: 8 * MIB });
  const putFrom = (from: number) => {
    const headers = { 'content-range': `bytes ${from}-${disk.length - 1}/${disk.length}` };
    return file.take(new Request('https://x/', { method: 'PUT', body: disk.subarray(from), headers }));
  };
  const isFull = { code: 507, message: /the storage of the PVC is full: make room/ };
  await assert.rejects(putFrom(0), isFull);
  const { receivedBytes } = file.state();
  assert.equal(receivedBytes, 2 * MIB);
  await assert.rejects(putFrom(receivedBytes), isFull);
  makeRoom();
  assert.deepEqual(readFileSync((await putFrom(receivedBytes)) ?? ''), disk);
});

for (const task of [
  { from: 'pvc', sizeBytes: 8 * MIB },
  { from: 'registry', image: 'an/image', isMounted: true, sizeBytes: 8 * MIB },
] as const)
  test(`a copy of a ${task.from} says that the PVC is full, leaves no disk, and is whole when there is room`, options, async (t) => {
    const { path, makeRoom } = smallDisk(t, 2);
    const source = mkdtempSync(join(tmpdir(), 'full-volumes-source-'));
    t.after(() => rmSync(source, { recursive: true }));
    const disk = randomBytes(4 * MIB);
    mkdirSync(join(source, 'disk'));
    for (const place of ['disk.img', 'disk/disk.img']) writeFileSync(join(source, place), disk);
    const fill = () =>
      fillClaim({
        ...{ task, folder: path, sourceFolder: source, searchPath: process.env['PATH'], clock: systemClock },
        ...(task.from === 'registry' && { mountedDisk: openContainerDisk(source) }),
        fetch: () => Promise.reject(new Error('nothing is fetched')),
        receive: () => Promise.reject(new Error('nobody sends anything')),
        signal: new AbortController().signal,
        onProgress: () => {},
      });
    await assert.rejects(fill(), { code: 'DISK_FULL' });
    assert.deepEqual(
      readdirSync(path).filter((name) => name.startsWith('disk')),
      [],
    );
    makeRoom();
    await fill();
    assert.deepEqual(readFileSync(join(path, 'disk.img')).subarray(0, disk.length), disk);
  });

/** A disk that an export serves, in pieces. */
function served(disk: Buffer): DiskSource {
  const request = async (path: string) => {
    const { searchParams } = new URL(path, 'http://host');
    const [from, bytes] = [Number(searchParams.get('from')), Number(searchParams.get('bytes'))];
    const headers = { etag: '"one"', [DISK_BYTES_HEADER]: `${disk.length}` };
    return new Response(new Uint8Array(gzipSync(disk.subarray(from, from + bytes))), { headers });
  };
  const source = { client: { request } as DiskSource['client'], clock: systemClock, signal: new AbortController().signal };
  return { ...source, namespace: 'default', name: 'export', volume: 'root', token: 'token' };
}

for (const [format, bytes] of [
  ['gzip', 4 * MIB + 512],
  ['raw', 4 * MIB + 512],
  ['gzip', 2 * MIB - 3584], // only the end of the last piece does not fit
] as const)
  test(
    `a disk that is taken to a full disk (${format}, ${bytes} bytes) has no name there, and goes on when there is room`,
    options,
    async (t) => {
      const { path, makeRoom } = smallDisk(t, 2);
      const disk = randomBytes(bytes);
      const save = () => saveDisk({ ...served(disk), path: join(path, 'out'), format, onProgress: () => {} });
      await assert.rejects(save(), { code: 'ENOSPC' });
      assert.equal(existsSync(join(path, 'out')), false);
      makeRoom();
      await save();
      const taken = readFileSync(join(path, 'out'));
      assert.deepEqual(format === 'raw' ? taken : gunzipSync(taken), disk);
      assert.deepEqual(readdirSync(path), ['out']);
    },
  );

test('a machine that is written to a full disk fails, however little is missing', options, async (t) => {
  const { path, makeRoom } = smallDisk(t, 2);
  const write = async () => {
    const file = await open(join(path, 'machine.tar'), 'w');
    try {
      const writer = new MachineFileWriter(file);
      await writer.machine({ metadata: { name: 'db' }, spec: { template: { spec: { domain: { devices: {} } } } } } as never);
      await writer.disk('root', takePieces(served(randomBytes(2 * MIB)), undefined));
      await writer.end();
    } finally {
      await file.close();
    }
  };
  await assert.rejects(write(), { code: 'ENOSPC' });
  makeRoom();
  await write();
  await readMachineFile(join(path, 'machine.tar'), new AbortController().signal);
});

test('a snapshot that does not fit says so, leaves nothing, and is whole when there is room', options, async (t) => {
  const { path, makeRoom } = smallDisk(t, 6);
  const [from, into] = [join(path, 'pvc'), join(path, 'snapshot')];
  mkdirSync(from);
  const disk = randomBytes(4 * MIB);
  writeFileSync(join(from, 'disk.img'), disk);
  const copies = new FolderCopies(systemClock);
  const copied = async () => {
    copies.begin({ from, path: into, owner: 'test' });
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
  again.begin({ from, path: into, owner: 'test' });
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

test('memory of a machine that is suspended to a full PVC leaves nothing, and is whole when there is room', options, (t) => {
  const { path, makeRoom } = smallDisk(t, 2);
  const [memory, saved] = [randomBytes(3 * MIB), { qemu: '1', accelerator: 'tcg', machine: 'm' }];
  const first = new MemoryWriter(path, saved);
  assert.throws(() => first.take(memory), /ENOSPC/);
  first.giveUp();
  writeFileSync(join(path, 'filler'), Buffer.alloc(2 * MIB, 1));
  assert.throws(() => new MemoryWriter(path, saved), /ENOSPC/); // not even its head fits
  assert.deepEqual(readdirSync(path), ['filler']);
  makeRoom();
  const second = new MemoryWriter(path, saved);
  second.take(memory);
  const { digest } = second.finish();
  closeSync(openMemory(path, { ...saved, digest }));
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

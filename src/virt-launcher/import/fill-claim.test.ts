import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { ImportProgress, ImportTask } from '../../api/importer/importer-pod.ts';
import { systemClock } from '../../base/clock.ts';
import { guardedFetch } from '../../images/guarded-fetch.ts';
import { type FileServer, startFileServer } from '../../images/import/file-server.testing.ts';
import { makeVmdks, withHiddenParent } from '../../images/import/vmdk.testing.ts';
import { qcow2Start } from '../../images/qcow2-header.testing.ts';
import { openContainerDisk } from '../container-disk.ts';
import { fillClaim, type OpenDisk } from './fill-claim.ts';

const MIB = 2 ** 20;
const RAW = Buffer.concat([Buffer.alloc(4096, 'disk'), Buffer.alloc(MIB), Buffer.alloc(512, 'end')]);
const NOTE = 'disk.img.format';

type World = {
  readonly folder: string;
  readonly source: string;
  readonly server: FileServer;
  readonly seen: ImportProgress[];
  fill(task?: Partial<Extract<ImportTask, { from: 'http' }>>, signal?: AbortSignal): Promise<void>;
  run(task: ImportTask, signal?: AbortSignal, mountedDisk?: OpenDisk): Promise<void>;
  /** As somebody sends it. */
  upload(content: Buffer): Promise<void>;
};

async function world(t: TestContext, content: Buffer): Promise<World> {
  const base = mkdtempSync(join(tmpdir(), 'fill-claim-'));
  t.after(() => rmSync(base, { recursive: true }));
  const [folder, source] = [join(base, 'claim'), join(base, 'source')];
  mkdirSync(folder);
  mkdirSync(source);
  const server = await startFileServer(t, content);
  const seen: ImportProgress[] = [];
  const run = (task: ImportTask, signal = new AbortController().signal, mountedDisk?: OpenDisk, sent?: Buffer) =>
    fillClaim({
      mountedDisk,
      task,
      folder,
      sourceFolder: source,
      fetch: guardedFetch(server.origin),
      searchPath: process.env['PATH'],
      clock: systemClock,
      signal,
      onProgress: (progress) => seen.push(progress),
      async receive({ folder: into, finish }) {
        if (!sent) throw new Error('nobody sends anything');
        writeFileSync(join(into, 'file'), sent);
        await finish(join(into, 'file'), signal);
      },
    });
  const upload: World['upload'] = (sent) => run({ from: 'upload', sizeBytes: 4 * MIB }, undefined, undefined, sent);
  const fill: World['fill'] = (task = {}, signal) =>
    run({ from: 'http', url: `${server.origin}/disk`, sizeBytes: 4 * MIB, ...task }, signal);
  return { folder, source, server, seen, fill, run, upload };
}

const filesIn = (folder: string) => readdirSync(folder).sort();
const diskIn = (folder: string) => readFileSync(join(folder, 'disk.img'));
const formatIn = (folder: string) => readFileSync(join(folder, NOTE), 'utf8').trim();

test('a disk is downloaded, grown to its PVC, and nothing else is left', async (t) => {
  const { folder, fill, seen } = await world(t, RAW);
  await fill({ checksum: `sha256:${createHash('sha256').update(RAW).digest('hex')}` });
  assert.deepEqual(filesIn(folder), ['disk.img', NOTE]);
  assert.deepEqual([diskIn(folder).subarray(0, RAW.length).equals(RAW), statSync(join(folder, 'disk.img')).size], [true, 4 * MIB]);
  assert.deepEqual([formatIn(folder), seen.at(-1)], ['raw', { doneBytes: RAW.length, totalBytes: RAW.length }]);
});

test('gzip, zstd and xz are unpacked', async (t) => {
  const xz = execFileSync('xz', ['-c'], { input: RAW });
  for (const content of [gzipSync(RAW), zstdCompressSync(RAW), xz]) {
    const { folder, fill } = await world(t, content);
    await fill();
    assert.ok(diskIn(folder).subarray(0, RAW.length).equals(RAW));
  }
});

test('VMDK and VHDX are converted, qcow2 stays as it is, and its format is kept beside it', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'convert-'));
  t.after(() => rmSync(base, { recursive: true }));
  writeFileSync(join(base, 'raw'), Buffer.concat([RAW, Buffer.alloc(2 * MIB - RAW.length)]));
  for (const format of ['vmdk', 'vhdx', 'qcow2']) {
    execFileSync('qemu-img', ['convert', '-O', format, join(base, 'raw'), join(base, format)]);
    const { folder, fill } = await world(t, readFileSync(join(base, format)));
    await fill({ sizeBytes: 8 * MIB });
    assert.deepEqual([filesIn(folder), formatIn(folder)], [['disk.img', NOTE], 'qcow2']);
    execFileSync('qemu-img', ['compare', '-f', 'raw', '-F', 'qcow2', join(base, 'raw'), join(folder, 'disk.img')]);
    const { 'virtual-size': size } = JSON.parse(
      execFileSync('qemu-img', ['info', '-f', 'qcow2', '--output=json', join(folder, 'disk.img')], { encoding: 'utf8' }),
    );
    assert.equal(size, 8 * MIB);
  }
});

/** Of version 3, whose features say that the data is elsewhere. */
function withDataFile(): Buffer {
  const header = qcow2Start();
  header.writeUInt32BE(3, 4);
  header.writeBigUInt64BE(4n, 72);
  header.writeUInt32BE(104, 100);
  return header;
}

const BAD: readonly [what: string, content: Buffer, task: object, why: RegExp][] = [
  ['an overlay of another file', qcow2Start({ backingAt: 200 }), {}, /disk .* is refused/],
  ['an image with its data in another file', withDataFile(), {}, /disk .* is refused/],
  ['a disk that is larger than its PVC', qcow2Start({ sizeBytes: 5 * MIB }), {}, /does not fit on its PVC/],
  ['wrong bytes', RAW, { checksum: `sha256:${'0'.repeat(64)}` }, /is not what it should be/],
  ['a download without an end', Buffer.alloc(24 * MIB, 'x'), {}, /is refused/],
  ['a bomb', gzipSync(Buffer.alloc(64 * MIB)), {}, /the unpacked disk is refused/],
  ['a web page', Buffer.from(`<!doctype html>${' '.repeat(497)}`), {}, /is no disk that can be run/],
  ['half a sector', Buffer.alloc(300, 'x'), {}, /is no disk that can be run/],
];
for (const [what, content, task, why] of BAD)
  test(`${what} is refused, and leaves no disk`, async (t) => {
    const { folder, fill } = await world(t, content);
    await assert.rejects(fill(task), why);
    assert.equal(existsSync(join(folder, 'disk.img')), false);
    await assert.rejects(fill(task), why, 'and again');
  });

test('a VMDK that leads to another file is refused by a download and by an upload, and leaves no disk', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'leading-'));
  t.after(() => rmSync(base, { recursive: true }));
  const { secret, empty } = makeVmdks(base);
  const made = await world(t, Buffer.alloc(0));
  const attack = withHiddenParent(empty, { path: join(made.folder, '.import/file'), secret });
  const { folder, fill } = await world(t, attack);
  await assert.rejects(fill(), { code: 'VMDK_REFUSED' });
  await assert.rejects(made.upload(attack), { code: 'VMDK_REFUSED' });
  assert.deepEqual([existsSync(join(folder, 'disk.img')), existsSync(join(made.folder, 'disk.img'))], [false, false]);
  await made.upload(RAW);
  assert.equal(formatIn(made.folder), 'raw');
});

test('a download that was cut off goes on where it was, in another process', async (t) => {
  const content = Buffer.alloc(MIB, 'disk');
  const { folder, server, fill, seen } = await world(t, content);
  server.stallAt = 700_000;
  const stop = new AbortController();
  const first = fill({}, stop.signal);
  while ((seen.at(-1)?.doneBytes ?? 0) < 700_000) await new Promise((resolve) => setImmediate(resolve));
  stop.abort(new Error('killed'));
  await assert.rejects(first);
  assert.deepEqual([existsSync(join(folder, 'disk.img')), filesIn(folder)], [false, ['.import']]);
  server.stallAt = undefined;
  await fill();
  assert.equal(server.requests.at(-1), '/disk bytes=700000-');
  assert.ok(diskIn(folder).subarray(0, MIB).equals(content));
});

test('what was downloaded is not asked for again, and what a killed one left half unpacked is made again', async (t) => {
  const { folder, server, fill } = await world(t, Buffer.from('changed meanwhile'));
  const work = join(folder, '.import');
  mkdirSync(work);
  writeFileSync(join(work, 'file'), gzipSync(RAW));
  writeFileSync(join(work, 'unpacked'), 'half');
  writeFileSync(join(folder, NOTE), 'qcow2\n');
  await fill();
  assert.deepEqual([server.requests, filesIn(folder), formatIn(folder)], [[], ['disk.img', NOTE], 'raw']);
  assert.ok(diskIn(folder).subarray(0, RAW.length).equals(RAW));
});

test('one that was killed after the last step is done: the disk is not written to', async (t) => {
  const { folder, server, fill } = await world(t, RAW);
  for (const left of ['.import', '.imported']) {
    mkdirSync(join(folder, left));
    writeFileSync(join(folder, left, 'file'), 'of a guest');
    linkSync(join(folder, left, 'file'), join(folder, 'disk.img'));
    if (left === '.imported') rmSync(join(folder, left, 'file'));
    await fill();
    assert.deepEqual([diskIn(folder).toString(), server.requests, filesIn(folder)], ['of a guest', [], ['disk.img']]);
    rmSync(join(folder, 'disk.img'));
  }
});

test('a disk that somebody else puts there meanwhile is neither written to nor taken for the one that was asked for', async (t) => {
  const { folder, source, server, fill, run } = await world(t, RAW);
  const path = join(folder, 'disk.img');
  server.pages.set('/disk', (_, response) => {
    writeFileSync(path, 'of a guest');
    response.end(RAW);
  });
  await assert.rejects(fill(), { code: 'DISK_IN_THE_WAY' });
  await assert.rejects(fill(), { code: 'DISK_IN_THE_WAY' }, 'and again');
  assert.equal(diskIn(folder).toString(), 'of a guest');
  rmSync(path);
  mkdirSync(join(source, 'disk'));
  writeFileSync(join(source, 'disk/disk.img'), RAW);
  await run({ from: 'registry', image: 'an/image', isMounted: true, sizeBytes: 4 * MIB }, undefined, openContainerDisk(source));
  assert.deepEqual([diskIn(folder).subarray(0, RAW.length).equals(RAW), filesIn(folder)], [true, ['disk.img', NOTE]]);
});

test('the disk of an image that is mounted, or of another PVC, is copied with its format', async (t) => {
  const { folder, source, run } = await world(t, RAW);
  mkdirSync(join(source, 'disk'));
  writeFileSync(join(source, 'disk/disk.img'), RAW);
  await run({ from: 'registry', image: 'an/image', isMounted: true, sizeBytes: 4 * MIB }, undefined, openContainerDisk(source));
  assert.ok(diskIn(folder).subarray(0, RAW.length).equals(RAW));
  rmSync(join(folder, 'disk.img'));
  writeFileSync(join(source, 'disk.img'), qcow2Start());
  writeFileSync(join(source, NOTE), 'qcow2\n');
  await run({ from: 'pvc', sizeBytes: 4 * MIB });
  assert.deepEqual([diskIn(folder).subarray(0, 4).toString('latin1'), formatIn(folder)], ['QFI\xfb', 'qcow2']);
});

test('a header that a guest wrote on a raw disk does not become its format in a copy', async (t) => {
  const { folder, source, run } = await world(t, RAW);
  writeFileSync(join(source, 'disk.img'), qcow2Start({ backingAt: 200 }));
  writeFileSync(join(source, NOTE), 'raw\n');
  await run({ from: 'pvc', sizeBytes: 4 * MIB });
  assert.equal(formatIn(folder), 'raw');
});

test('a PVC that is written to while it is copied is no source: there is no disk, and the next try is right', async (t) => {
  const { folder, source, run } = await world(t, RAW);
  const path = join(source, 'disk.img');
  writeFileSync(path, RAW);
  truncateSync(path, 256 * MIB);
  const script = `const f = fs.openSync(process.argv[1], 'r+'); fs.writeSync(1, 'x'); for (;;) fs.writeSync(f, 'torn', 4096)`;
  const writer = spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => writer.kill('SIGKILL'));
  await once(writer.stdout, 'data');
  await assert.rejects(run({ from: 'pvc', sizeBytes: 256 * MIB }), { code: 'SOURCE_CHANGED', why: /somebody wrote to it/ });
  writer.kill('SIGKILL');
  await once(writer, 'exit');
  assert.deepEqual(filesIn(folder), ['.import']);
  await run({ from: 'pvc', sizeBytes: 256 * MIB });
  assert.ok(existsSync(join(folder, 'disk.img')));
});

test('links that somebody else has put where it works are neither read nor written through', async (t) => {
  const { folder, source, fill } = await world(t, RAW);
  const [elsewhere, file] = [join(source, 'folder'), join(source, 'file')];
  mkdirSync(elsewhere);
  writeFileSync(file, Buffer.alloc(1024, 'host'));
  symlinkSync(elsewhere, join(folder, '.import'));
  await fill();
  assert.deepEqual([readFileSync(join(folder, 'disk.img')).subarray(0, 4).toString(), readdirSync(elsewhere)], ['disk', []]);
  rmSync(join(folder, 'disk.img'));
  mkdirSync(join(folder, '.import'));
  symlinkSync(file, join(folder, '.import', 'file'));
  await fill();
  assert.deepEqual(
    [readFileSync(join(folder, 'disk.img')).subarray(0, 4).toString(), readFileSync(file, 'utf8')],
    ['disk', 'host'.repeat(256)],
  );
});

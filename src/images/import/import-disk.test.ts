import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { qcow2Start } from '../qcow2-header.testing.ts';
import { openImageStore } from '../store.ts';
import { decompress } from './decompress.ts';
import { importDisk } from './import-disk.ts';

const RAW = Buffer.concat([Buffer.alloc(4096, 'disk'), Buffer.alloc(2 ** 20), Buffer.alloc(512, 'end')]);
const { PATH } = process.env;
const signal = new AbortController().signal;

function world(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'import-disk-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const storeDir = join(dir, 'store');
  const store = openImageStore(storeDir);
  const file = (name: string, content: Buffer | string) => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  const bring = (path: string, searchPath = PATH) =>
    importDisk({ storeDir, path, name: 'disk', reference: 'localhost/disk:1', compression: 'zstd', searchPath, signal });
  const stored = async (name = 'disk.img') => readFileSync(join(await store.unpacked('localhost/disk:1'), 'disk', name));
  const leftovers = () => readdirSync(storeDir).filter((name) => name.startsWith('.import'));
  return { dir, file, bring, stored, store, leftovers };
}

test('a disk is unpacked from gzip, zstd and xz, and is then what it was', async (t) => {
  const { dir, file, bring, stored, leftovers } = world(t);
  file('raw', RAW);
  execFileSync('xz', ['-k', 'raw'], { cwd: dir });
  for (const path of [join(dir, 'raw'), file('raw.gz', gzipSync(RAW)), file('raw.zst', zstdCompressSync(RAW)), join(dir, 'raw.xz')]) {
    await bring(path);
    assert.ok((await stored()).equals(RAW), path);
  }
  assert.deepEqual(leftovers(), []);
});

test('qcow2 stays qcow2, also when it was compressed', async (t) => {
  const { file, bring, stored } = world(t);
  await bring(file('disk.qcow2.gz', gzipSync(qcow2Start())));
  assert.ok((await stored('disk.qcow2')).equals(qcow2Start()));
});

const REFUSED: [what: string, content: Buffer | string, error: object][] = [
  ['an overlay of another file', qcow2Start({ backingAt: 104 }), { code: 'IMAGE_HAS_BACKING_FILE' }],
  ['the same, compressed', gzipSync(qcow2Start({ backingAt: 104 })), { code: 'IMAGE_HAS_BACKING_FILE' }],
  ['something compressed twice', gzipSync(gzipSync(RAW)), { code: 'NOT_A_DISK', why: 'there is gzip in what was gzip' }],
  ['a gzip that is cut off', gzipSync(RAW).subarray(0, 100), { code: 'DISK_DAMAGED' }],
  ['a web page', `<!DOCTYPE html>${' '.repeat(1009)}`, { code: 'NOT_A_DISK', why: 'it is a web page' }],
  ['half a sector', 'x'.repeat(700), { code: 'NOT_A_DISK', why: /whole sectors/ }],
  ['nothing', '', { code: 'NOT_A_DISK' }],
  ['another format', `conectix${'\0'.repeat(1016)}`, { code: 'NOT_A_DISK', why: 'it is VHD' }],
  [
    'a description of VMDK, which names other files',
    '# Disk DescriptorFile\nRW 1 FLAT "/etc/shadow" 0\n'.padEnd(1024),
    { code: 'VMDK_REFUSED' },
  ],
];
for (const [what, content, error] of REFUSED)
  test(`${what} is refused, and nothing of it is kept`, async (t) => {
    const { file, bring, store, leftovers } = world(t);
    await assert.rejects(bring(file('disk', content)), error);
    assert.deepEqual([store.resolve('localhost/disk:1'), leftovers()], [undefined, []]);
  });

test('VMDK and VHDX become qcow2', async (t) => {
  const { dir, file, bring, store } = world(t);
  file('raw', RAW);
  for (const [format, options] of [
    ['vmdk', []],
    ['vmdk', ['-o', 'subformat=streamOptimized']],
    ['vhdx', []],
  ] as const) {
    execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', format, ...options, join(dir, 'raw'), join(dir, 'disk')]);
    await bring(join(dir, 'disk'));
    const path = join(await store.unpacked('localhost/disk:1'), 'disk', 'disk.qcow2');
    execFileSync('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', path, join(dir, 'back')]);
    assert.ok(readFileSync(join(dir, 'back')).subarray(0, RAW.length).equals(RAW), format);
  }
});

test('programs that are not there are named, with a way out', async (t) => {
  const { dir, file, bring } = world(t);
  file('raw', RAW);
  execFileSync('xz', ['-k', 'raw'], { cwd: dir });
  await assert.rejects(bring(join(dir, 'raw.xz'), '/nowhere'), { code: 'XZ_MISSING', exitCode: 7 });
  await assert.rejects(bring(file('v', `vhdxfile${'\0'.repeat(1016)}`), '/nowhere'), { code: 'QEMU_IMG_MISSING', exitCode: 7 });
});

test('what grows without end when it is unpacked is given up, and holes cost nothing', async (t) => {
  const { dir, file } = world(t);
  const zeros = file('zeros.gz', gzipSync(Buffer.alloc(2 ** 24)));
  const unpack = (into: string, limits: { dataBytes: number; sizeBytes: number }) =>
    decompress({ path: zeros, into: join(dir, into), compression: 'gzip', searchPath: PATH, signal, limits });
  await assert.rejects(unpack('a', { dataBytes: 2 ** 20, sizeBytes: 2 ** 23 }), { code: 'DISK_TOO_LARGE' });
  await unpack('b', { dataBytes: 2 ** 20, sizeBytes: 2 ** 24 });
  assert.deepEqual([statSync(join(dir, 'b')).size, statSync(join(dir, 'b')).blocks < 100], [2 ** 24, true]);
});

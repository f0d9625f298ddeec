import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { DEFAULT_LIMITS, type UnpackLimits, unpackLayers } from './unpack.ts';

const TAR = 'application/vnd.oci.image.layer.v1.tar';
type TestEntry = {
  name: string;
  type?: string;
  linkname?: string;
  mode?: number;
  body?: Uint8Array | string;
  pax?: Record<string, string>;
};

async function tar(...entries: TestEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const { body = '', ...header } of entries) archive.entry(header as Parameters<typeof archive.entry>[0], Buffer.from(body));
  archive.finalize();
  return buffer(archive as AsyncIterable<Uint8Array> as never);
}

async function unpack(
  t: TestContext,
  layers: readonly Buffer[],
  options: { mediaType?: string; limits?: Partial<UnpackLimits> } = {},
): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'unpack-'));
  t.after(() => rm(base, { recursive: true, force: true }));
  await unpackLayers({
    layers: layers.map((layer) => ({ mediaType: options.mediaType ?? TAR, open: () => Readable.from([layer]) })),
    into: base,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
  });
  return base;
}

async function names(dir: string): Promise<string[]> {
  return (await readdir(dir, { recursive: true })).sort();
}

describe('a malicious layer is refused, and the entry named', () => {
  const disk = { name: 'disk/disk.img', body: 'data' };
  const cases: [string, TestEntry[], RegExp][] = [
    ['absolute symlink', [{ name: 'disk/disk.img', type: 'symlink', linkname: '/etc/shadow' }], /"disk\/disk.img" is a symlink/],
    ['relative symlink', [{ name: 'disk/disk.img', type: 'symlink', linkname: '../../x' }], /"disk\/disk.img" is a symlink/],
    ['dangling symlink', [{ name: 'disk/disk.img', type: 'symlink', linkname: 'nowhere' }], /is a symlink/],
    ['hard link', [disk, { name: 'disk/again', type: 'link', linkname: 'disk/disk.img' }], /"disk\/again" is a link/],
    ['character device', [{ name: 'dev/null', type: 'character-device' }], /"dev\/null" is a character-device/],
    ['block device', [{ name: 'dev/sda', type: 'block-device' }], /"dev\/sda" is a block-device/],
    ['FIFO', [{ name: 'pipe', type: 'fifo' }], /"pipe" is a fifo/],
    ['contiguous file', [{ name: 'x', type: 'contiguous-file', body: 'x' }], /"x" is a contiguous-file/],
    ['parent folder', [{ name: '../x', body: 'x' }], /"..\/x" leads out of the image/],
    ['parent folder in the middle', [{ name: 'a/../../x', body: 'x' }], /leads out of the image/],
    ['absolute name', [{ name: '/etc/x', body: 'x' }], /"\/etc\/x" has an absolute name/],
    ['newline in a name', [{ name: 'a\nb', body: 'x' }], /has a control character/],
    ['NUL in a name', [{ name: 'x', pax: { path: 'a\0b' }, body: 'x' }], /has a control character/],
    ['GNU sparse file', [{ name: 'x', pax: { 'GNU.sparse.major': '1' }, body: 'x' }], /"x" is in GNU sparse format/],
    ['whiteout of the parent', [{ name: 'a/.wh...' }], /"a\/.wh..." leads out of the image/],
    ['whiteout of the folder itself', [{ name: '.wh..' }], /leads out of the image/],
    ['file below a file', [disk, { name: 'disk/disk.img/x', body: 'x' }], /"disk\/disk.img\/x" lies below a file/],
    ['name too deep', [{ name: `${'a/'.repeat(40)}x`, body: 'x' }], /more than 32 folders deep/],
    ['name too long', [{ name: 'a'.repeat(300), body: 'x' }], /name longer than 255 bytes/],
  ];
  for (const [what, entries, message] of cases) {
    test(what, async (t) => {
      await assert.rejects(unpack(t, [await tar(...entries)]), { reason: 'Invalid', message });
    });
  }
});

describe('limits', () => {
  test('a compression bomb stops at the limit of bytes', async (t) => {
    const bomb = gzipSync(await tar({ name: 'zeros', body: Buffer.alloc(8 * 2 ** 20) }));
    assert.ok(bomb.length < 20_000);
    await assert.rejects(unpack(t, [bomb], { mediaType: `${TAR}+gzip`, limits: { maxBytes: 2 ** 20 } }), { message: /1048576/ });
  });
  test('padding without end counts, too', async (t) => {
    const padding = gzipSync(Buffer.alloc(4 * 2 ** 20));
    await assert.rejects(unpack(t, [padding], { mediaType: `${TAR}+gzip`, limits: { maxBytes: 2 ** 20 } }), {
      message: /more than 1048576 bytes/,
    });
  });
  test('a header that claims exabytes is refused before its body', async (t) => {
    const layer = await tar({ name: 'huge', pax: { size: String(2 ** 62) }, body: 'x' });
    await assert.rejects(unpack(t, [layer]), { message: /"huge" claims 4611686018427388000 bytes/ });
  });
  test('entries are counted over all layers', async (t) => {
    const layer = await tar({ name: 'a', body: '' }, { name: 'b', body: '' });
    await assert.rejects(unpack(t, [layer, layer], { limits: { maxEntries: 3 } }), { message: /more than 3 entries/ });
  });
  test('data is counted, zeros are not', async (t) => {
    await unpack(t, [await tar({ name: 'zeros', body: Buffer.alloc(100_000) })], { limits: { maxDataBytes: 5000 } });
    const data = await tar({ name: 'data', body: Buffer.alloc(100_000, 1) });
    await assert.rejects(unpack(t, [data], { limits: { maxDataBytes: 5000 } }), { message: /more than 5000 bytes of data/ });
  });
});

describe('broken layers', () => {
  test('truncated tar', async (t) => {
    const whole = await tar({ name: 'x', body: Buffer.alloc(9000, 1) });
    await assert.rejects(unpack(t, [whole.subarray(0, 5000)]), { reason: 'Invalid', message: /cannot be read|ends after/ });
  });
  test('truncated gzip', async (t) => {
    const whole = gzipSync(await tar({ name: 'x', body: Buffer.from('abcdefgh'.repeat(9000)) }));
    await assert.rejects(unpack(t, [whole.subarray(0, 100)], { mediaType: `${TAR}+gzip` }), { reason: 'Invalid' });
  });
  test('not gzip at all', async (t) => {
    await assert.rejects(unpack(t, [Buffer.from('hello')], { mediaType: `${TAR}+gzip` }), {
      message: /a layer cannot be read: incorrect header check/,
    });
  });
  test('unknown layer type', async (t) => {
    await assert.rejects(unpack(t, [Buffer.alloc(0)], { mediaType: 'text/plain' }), {
      message: /layers of type "text\/plain" are not supported/,
    });
  });
});

test('files and folders arrive readable for everybody, without set-id bits', async (t) => {
  const dir = await unpack(t, [
    await tar({ name: './disk/', type: 'directory', mode: 0o700 }, { name: 'disk/disk.img', mode: 0o4700, body: 'data' }),
  ]);
  const mode = async (name: string) => ((await stat(join(dir, name))).mode & 0o7777).toString(8);
  assert.deepEqual([await mode('disk'), await mode('disk/disk.img')], ['755', '644']);
  assert.equal(await readFile(join(dir, 'disk/disk.img'), 'utf8'), 'data');
});

test('gzip and zstd layers give what they were made from', async (t) => {
  const plain = await tar({ name: 'a', body: 'one' });
  const gzip = await unpack(t, [gzipSync(plain)], { mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip' });
  const zstd = await unpack(t, [zstdCompressSync(plain)], { mediaType: `${TAR}+zstd` });
  assert.deepEqual([await readFile(join(gzip, 'a'), 'utf8'), await readFile(join(zstd, 'a'), 'utf8')], ['one', 'one']);
});

test('a disk image takes the space of its data only', async (t) => {
  const body = Buffer.alloc(4 * 2 ** 20);
  body.write('start', 0);
  body.write('middle', 2_000_001);
  const dir = await unpack(t, [gzipSync(await tar({ name: 'disk.img', body }))], { mediaType: `${TAR}+gzip` });
  const { size, blocks } = await stat(join(dir, 'disk.img'));
  assert.equal(size, body.length);
  assert.ok(blocks * 512 < 64 * 1024, `${blocks * 512} bytes on disk`);
  assert.ok(body.equals(await readFile(join(dir, 'disk.img'))));
});

test('upper layers replace, whiteouts take away from lower layers only', async (t) => {
  const lower = await tar(
    { name: 'a/x', body: '1' },
    { name: 'a/y', body: '1' },
    { name: 'b/x', body: '1' },
    { name: 'f', body: '1' },
    { name: 'g/x', body: '' },
  );
  const upper = await tar(
    { name: 'a/.wh.x' },
    { name: 'b/new', body: '2' },
    { name: 'b/.wh..wh..opq' },
    { name: 'f/now', body: 'folder' },
    { name: 'g', body: 'file' },
  );
  const dir = await unpack(t, [lower, upper]);
  assert.deepEqual(await names(dir), ['a', 'a/y', 'b', 'b/new', 'f', 'f/now', 'g']);
});

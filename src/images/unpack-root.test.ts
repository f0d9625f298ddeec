import assert from 'node:assert/strict';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { type Header, pack } from 'tar-stream';
import { DEFAULT_LIMITS, type UnpackLimits, unpackLayers } from './unpack.ts';
import { rootEntries, type Shift } from './unpack-root.ts';

type Made = Partial<Header> & { readonly name: string; readonly text?: string };

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'root-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function layer(entries: readonly Made[]): Promise<Buffer> {
  const archive = pack();
  for (const { text, ...header } of entries) archive.entry(header as Header, text ?? '');
  archive.finalize();
  return buffer(archive as unknown as Readable);
}

async function unpack(into: string, layers: readonly (readonly Made[])[], more: { limits?: UnpackLimits; shift?: Shift } = {}) {
  const made = await Promise.all(layers.map(layer));
  await unpackLayers({
    layers: made.map((bytes) => ({ mediaType: 'application/vnd.oci.image.layer.v1.tar', open: () => Readable.from([bytes]) })),
    into,
    apply: rootEntries(more.shift),
    limits: more.limits ?? DEFAULT_LIMITS,
  });
}

test('files keep their mode without set-id bits, folders their sticky bit', async (t) => {
  const into = folder(t);
  await unpack(into, [
    [
      { name: 'bin/su', mode: 0o4755, text: 'x' },
      { name: 'tmp/', type: 'directory', mode: 0o1777 },
      { name: 'bin/wall', mode: 0o2755, text: 'x' },
    ],
  ]);
  const modes = ['bin/su', 'tmp', 'bin/wall'].map((name) => (lstatSync(join(into, name)).mode & 0o7777).toString(8));
  assert.deepEqual(modes, ['755', '1777', '755']);
});

test('a link out of the root is a link inside of it, and nothing is written through it', async (t) => {
  const outside = folder(t);
  writeFileSync(join(outside, 'kept'), 'mine');
  const into = folder(t);
  await unpack(into, [
    [
      { name: 'etc', type: 'symlink', linkname: outside },
      { name: 'up', type: 'symlink', linkname: '../../../..' },
    ],
    [{ name: 'etc/kept', text: 'theirs' }, { name: 'up/tmp/made', text: 'x' }, { name: 'etc/.wh.kept' }],
  ]);
  assert.equal(readFileSync(join(outside, 'kept'), 'utf8'), 'mine');
  assert.deepEqual(readdirSync(outside), ['kept']);
  assert.equal(readlinkSync(join(into, 'etc')), outside);
  assert.equal(readFileSync(join(into, outside, 'kept'), 'utf8'), 'theirs');
  assert.equal(readFileSync(join(into, 'tmp/made'), 'utf8'), 'x');
});

test('a whiteout takes away what a lower layer has, through no link', async (t) => {
  const outside = folder(t);
  writeFileSync(join(outside, 'kept'), 'mine');
  const into = folder(t);
  await unpack(into, [
    [
      { name: 'a/one', text: '1' },
      { name: 'a/two', text: '2' },
      { name: 'link', type: 'symlink', linkname: outside },
    ],
    [{ name: 'a/.wh.one' }, { name: 'link/.wh..wh..opq' }],
  ]);
  assert.deepEqual(readdirSync(join(into, 'a')), ['two']);
  assert.deepEqual(readdirSync(outside), ['kept']);
});

test('devices and FIFOs are left out', async (t) => {
  const into = folder(t);
  await unpack(into, [
    [
      { name: 'dev/sda', type: 'block-device', devmajor: 8, devminor: 0 },
      { name: 'dev/mem', type: 'character-device', devmajor: 1, devminor: 1 },
      { name: 'pipe', type: 'fifo' },
      { name: 'there', text: 'x' },
    ],
  ]);
  assert.deepEqual(readdirSync(into), ['there']);
});

test('a hard link is made to a file of the image, and refused to anything else', async (t) => {
  const into = folder(t);
  await unpack(into, [
    [
      { name: 'bin/busybox', text: 'program' },
      { name: 'bin/sh', type: 'link', linkname: 'bin/busybox' },
    ],
  ]);
  assert.equal(readFileSync(join(into, 'bin/sh'), 'utf8'), 'program');
  const outside = folder(t);
  writeFileSync(join(outside, 'secret'), 'mine');
  const through = [
    { name: 'way', type: 'symlink' as const, linkname: outside },
    { name: 'stolen', type: 'link' as const, linkname: 'way/secret' },
  ];
  await assert.rejects(unpack(folder(t), [through]), /which is no file/);
  await assert.rejects(unpack(folder(t), [[{ name: 'x', type: 'link', linkname: '../../etc/passwd' }]]), /leads out of the image/);
});

test('names that lead out, links without an end and bombs are refused', async (t) => {
  await assert.rejects(unpack(folder(t), [[{ name: '../x', text: '' }]]), /leads out of the image/);
  const loop = [
    { name: 'a', type: 'symlink' as const, linkname: 'b' },
    { name: 'b', type: 'symlink' as const, linkname: 'a' },
    { name: 'a/file', text: 'x' },
  ];
  await assert.rejects(unpack(folder(t), [loop]), /more than 40 links/);
  const small = { maxEntries: 10, maxBytes: 4096, maxDataBytes: 1000 };
  await assert.rejects(unpack(folder(t), [[{ name: 'big', text: 'x'.repeat(2000) }]], { limits: small }), /more than 1000 bytes of data/);
});

test('owners are moved to the users of containers, and those beyond them to nobody', {
  skip: process.getuid?.() !== 0 && 'needs root',
}, async (t) => {
  const into = folder(t);
  const shift = { uid: 700_000, gid: 700_000, count: 65_536 };
  await unpack(
    into,
    [
      [
        { name: 'made/a', uid: 0, gid: 5, text: '' },
        { name: 'b', uid: 4_000_000, gid: 0, text: '' },
      ],
    ],
    { shift },
  );
  const owners = ['made', 'made/a', 'b'].map((name) => `${lstatSync(join(into, name)).uid}:${lstatSync(join(into, name)).gid}`);
  assert.deepEqual(owners, ['700000:700000', '700000:700005', '765534:700000']);
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { importImage } from '../import-file.ts';
import { convertDisk, convertOpenDisk } from './convert-disk.ts';
import { descriptorOf, makeVmdks, SECRET, withDescriptor, withFooter, withHiddenParent } from './vmdk.testing.ts';
import { assertSingleFile } from './vmdk.ts';

const { PATH } = process.env;
const signal = new AbortController().signal;

function world(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'vmdk-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'disk.vmdk');
  const storeDir = join(dir, 'store');
  mkdirSync(storeDir);
  const made = makeVmdks(dir);
  const put = (content: Buffer) => writeFileSync(path, content);
  const check = (content: Buffer) => {
    put(content);
    const file = openSync(path, 'r');
    try {
      assertSingleFile(file);
    } finally {
      closeSync(file);
    }
  };
  return { dir, path, storeDir, put, check, ...made };
}

test('a VMDK whose header leads away from the descriptor that QEMU reads is refused by image import, and nothing is kept', async (t) => {
  const { path, storeDir, put, empty, secret } = world(t);
  const attack = withHiddenParent(empty, { path, secret });
  for (const content of [attack, gzipSync(attack)]) {
    put(content);
    await assert.rejects(importImage({ storeDir, path, reference: 'localhost/x:1', searchPath: PATH }), { code: 'VMDK_REFUSED' });
  }
  assert.deepEqual(
    readdirSync(storeDir).filter((name) => name.startsWith('.import')),
    [],
  );
});

test('qemu-img opens no parent of a VMDK that became another one after it was looked at', async (t) => {
  const { dir, path, put, empty, secret } = world(t);
  put(withHiddenParent(empty, { path, secret }));
  execFileSync('qemu-img', ['convert', '-f', 'vmdk', '-O', 'raw', path, join(dir, 'leak')]);
  assert.ok(readFileSync(join(dir, 'leak')).includes(SECRET), 'left to itself it does');
  const [from, to] = [openSync(path, 'r'), openSync(join(dir, 'made'), 'wx+')];
  await convertOpenDisk({ from, to, format: 'VMDK', searchPath: PATH, signal });
  closeSync(from);
  closeSync(to);
  execFileSync('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', join(dir, 'made'), join(dir, 'made.raw')]);
  assert.equal(readFileSync(join(dir, 'made.raw')).includes(SECRET), false);
});

test('a VMDK of one file passes, as QEMU and others write them', async (t) => {
  const { check, empty, streamed, path, dir, put } = world(t);
  const others = descriptorOf(empty).replace('createType="monolithicSparse"', 'createType = "monolithicSparse"');
  for (const content of [empty, streamed, withDescriptor(empty, others)]) check(content);
  put(withFooter(streamed));
  const into = join(dir, 'made');
  await convertDisk({ path, into, format: 'VMDK', searchPath: PATH, signal });
  execFileSync('qemu-img', ['compare', '-f', 'raw', '-F', 'qcow2', join(dir, 'content.raw'), into]);
});

const CHANGES: readonly (readonly [what: string, from: string, to: string])[] = [
  ['another type', 'createType="monolithicSparse"', 'createType="monolithicFlat"'],
  ['no type', 'createType=', 'createTyp='],
  ['a type after the end of the text', 'createType=', '\0createType='],
  ['two types', 'createType=', 'createType="custom"\ncreateType='],
  ['a parent by its number', 'parentCID=ffffffff', 'parentCID=00000001'],
  ['a parent by its number, after none', 'parentCID=ffffffff', 'parentCID=ffffffff\nparentCID=1'],
  ['a parent by its name', 'version=1', 'version=1\nparentFileNameHint="/"'],
  ['a parent within a line', 'version=1', 'version=1 # parentFileNameHint="/"'],
  ['a parent in other letters', 'version=1', "version=1\nPARENTFILENAMEHINT = '/'"],
  ['a parent after the end of the text', 'version=1', 'version=1\0parentFileNameHint="/"'],
  ['an extent that is a whole file', 'version=1', 'version=1\nRW 2048 FLAT "/secret" 0'],
  ['an extent that is another file', 'version=1', 'version=1\n  rw 2048 VMFS "/secret" 0'],
];
for (const [what, from, to] of CHANGES)
  test(`a VMDK with ${what} in its descriptor is refused`, (t) => {
    const { check, empty } = world(t);
    const before = descriptorOf(empty);
    const after = before.replace(from, to);
    assert.notEqual(after, before);
    assert.throws(() => check(withDescriptor(empty, after)), { code: 'VMDK_REFUSED' });
  });

test('a VMDK whose headers leave anything open is refused', (t) => {
  const { check, empty, streamed } = world(t);
  const changed = (vmdk: Buffer, change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(vmdk);
    change(bytes);
    return bytes;
  };
  const bad: [string, Buffer][] = [
    ['no capacity', changed(empty, (bytes) => bytes.writeBigUInt64LE(0n, 12))],
    ['no descriptor', changed(empty, (bytes) => bytes.writeBigUInt64LE(0n, 28))],
    ['a descriptor elsewhere', changed(empty, (bytes) => bytes.writeBigUInt64LE(2n, 28))],
    ['a version that is not known', changed(empty, (bytes) => bytes.writeUInt32LE(4, 4))],
    ['nothing after the header', empty.subarray(0, 520)],
    ['no capacity at the end', withFooter(streamed, (footer) => footer.writeBigUInt64LE(0n, 12))],
    ['another capacity at the end', withFooter(streamed, (footer) => footer.writeBigUInt64LE(4096n, 12))],
    ['other flags at the end', withFooter(streamed, (footer) => footer.writeUInt32LE(0, 8))],
    ['a footer that points at another', withFooter(streamed, (footer) => footer.fill(0xff, 56, 64))],
    ['no footer where there has to be one', withFooter(streamed).subarray(0, -512)],
    ['only a description', Buffer.from(descriptorOf(empty).padEnd(1024))],
  ];
  for (const [what, content] of bad) assert.throws(() => check(content), { code: 'VMDK_REFUSED' }, what);
});

test('a VHDX that has a parent is refused by qemu-img, and the parent is not opened', async (t) => {
  const { dir, path } = world(t);
  execFileSync('qemu-img', ['create', '-q', '-f', 'vhdx', path, '1M']);
  const vhdx = readFileSync(path);
  const table = vhdx.indexOf('metadata');
  const entries = vhdx.readUInt16LE(table + 10);
  const parameters = vhdx.readUInt32LE(vhdx.indexOf(Buffer.from('3767a1ca36fa434db3b633f0aa44e76b', 'hex'), table) + 16);
  vhdx.writeUInt32LE(vhdx.readUInt32LE(table + parameters + 4) | 2, table + parameters + 4); // it has a parent
  const locator = table + 32 * (entries + 1);
  vhdx.write('2d5fd3a80bb34d45abf7d3d84834ab0c', locator, 'hex');
  for (const [index, value] of [0x20000, 20, 4].entries()) vhdx.writeUInt32LE(value, locator + 16 + 4 * index);
  vhdx.writeUInt16LE(entries + 1, table + 10);
  writeFileSync(path, vhdx);
  await assert.rejects(importImage({ storeDir: join(dir, 'store'), path, reference: 'localhost/x:1', searchPath: PATH }), {
    code: 'DISK_NOT_CONVERTED',
    why: /the disk.*not supported/,
  });
});

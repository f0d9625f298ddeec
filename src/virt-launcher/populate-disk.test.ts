import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { readImageFacts } from './image-format.ts';
import { unfinishedName } from './new-disk.ts';
import { populateDisk } from './populate-disk.ts';

const MIB = 2 ** 20;
let base: string;
let folder: string;
let image: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'fill-'));
  folder = join(base, 'volume');
  image = join(base, 'image');
  mkdirSync(folder);
});
afterEach(() => rmSync(base, { recursive: true }));

function fill(sizeBytes: number, options: Partial<Parameters<typeof populateDisk>[0]> = {}): boolean {
  const from = openSync(image, 'r');
  const unfinished = join(folder, unfinishedName('vm root'));
  try {
    return populateDisk({ from, facts: readImageFacts(from, 'image'), image: 'an/image', folder, unfinished, sizeBytes, ...options });
  } finally {
    closeSync(from);
    rmSync(unfinished, { force: true });
  }
}
const disk = () => join(folder, 'disk.img');

/** Text, a hole, text that ends in the middle of a block. */
function writeRaw(): Buffer {
  const content = Buffer.alloc(3 * MIB + 100);
  content.write('begin');
  content.write('end', content.length - 3);
  writeFileSync(image, content);
  return content;
}

test('a raw disk has the content of the image, the size of the claim, and holes where there is nothing', () => {
  const content = writeRaw();
  fill(64 * MIB);
  const { size, blocks, mode } = statSync(disk());
  assert.deepEqual([size, mode & 0o777, readdirSync(folder)], [64 * MIB, 0o600, ['disk.img', 'disk.img.format']]);
  assert.ok(blocks * 512 < MIB, `${blocks} blocks`);
  assert.ok(readFileSync(disk()).subarray(0, content.length).equals(content));
});

for (const options of ['cluster_size=65536', 'cluster_size=4096', 'compat=0.10', 'extended_l2=on']) {
  test(`a qcow2 disk (${options}) grows to the claim and stays sound`, () => {
    const raw = join(base, 'raw');
    writeFileSync(raw, Buffer.alloc(MIB, 7));
    execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', '-o', options, raw, image]);
    fill(2 ** 30);
    const { 'virtual-size': size } = JSON.parse(execFileSync('qemu-img', ['info', '--output=json', disk()], { encoding: 'utf8' }));
    assert.equal(size, 2 ** 30);
    execFileSync('qemu-img', ['check', disk()], { stdio: 'ignore' });
    execFileSync('qemu-io', ['-f', 'qcow2', '-c', 'read -P 7 0 1M', '-c', 'write -P 9 1023M 1M', disk()], { stdio: 'ignore' });
    execFileSync('qemu-img', ['check', disk()], { stdio: 'ignore' });
  });
}

test('a qcow2 disk whose tables have no room stays as large as the image', () => {
  execFileSync('qemu-img', ['create', '-f', 'qcow2', '-o', 'cluster_size=512', image, '1M'], { stdio: 'ignore' });
  fill(2 ** 40);
  const { 'virtual-size': size } = JSON.parse(execFileSync('qemu-img', ['info', '--output=json', disk()], { encoding: 'utf8' }));
  assert.equal(size, MIB);
  execFileSync('qemu-img', ['check', disk()], { stdio: 'ignore' });
});

test('what a killed try left behind is not the disk, and does not stand in the way', () => {
  const content = writeRaw();
  writeFileSync(join(folder, unfinishedName('vm root')), Buffer.alloc(8 * MIB, 1));
  writeFileSync(join(folder, 'disk.img.unfinished'), 'of an earlier release');
  utimesSync(join(folder, 'disk.img.unfinished'), 0, 0);
  fill(4 * MIB);
  assert.ok(readFileSync(disk()).subarray(0, content.length).equals(content));
  assert.deepEqual(readdirSync(folder), ['disk.img', 'disk.img.format']);
});

test('a disk that appears meanwhile is never replaced, and nothing else is left', () => {
  writeRaw();
  writeFileSync(disk(), 'somebody was quicker');
  assert.equal(fill(4 * MIB), false);
  assert.equal(readFileSync(disk(), 'utf8'), 'somebody was quicker');
  assert.deepEqual(readdirSync(folder), ['disk.img', 'disk.img.format']);
});

test('two machines that begin on one PVC do not touch what the other one writes: a half never becomes the disk', () => {
  const content = writeRaw();
  const half = join(folder, unfinishedName('vm-2 root'));
  const meanwhile = () => writeFileSync(half, 'half of a disk'); // the other one has begun, and is slower
  assert.equal(fill(4 * MIB, { check: meanwhile }), true);
  assert.ok(readFileSync(disk()).subarray(0, content.length).equals(content));
  assert.equal(readFileSync(half, 'utf8'), 'half of a disk');
  writeFileSync(disk(), 'a guest has written');
  assert.equal(fill(4 * MIB, { unfinished: half }), false);
  assert.equal(readFileSync(disk(), 'utf8'), 'a guest has written');
});

test('an image that is larger than the claim is refused before anything is written', () => {
  writeRaw();
  assert.throws(() => fill(2 * MIB), { code: 'DISK_TOO_SMALL', why: /the PVC has room for one of 2Mi/ });
  assert.deepEqual(readdirSync(folder), []);
});

test('a volume without room is told as such and left without a disk', (t) => {
  const script = `
    import { openSync, readdirSync } from 'node:fs';
    import { populateDisk } from ${JSON.stringify(join(import.meta.dirname, 'populate-disk.ts'))};
    try {
      populateDisk({ from: openSync(${JSON.stringify(image)}, 'r'), facts: { format: 'raw', sizeBytes: 4194304 }, image: 'an/image', folder: ${JSON.stringify(folder)}, unfinished: ${JSON.stringify(join(folder, 'new'))}, sizeBytes: 8388608 });
    } catch (error) {
      console.log(error.code, error.message, readdirSync(${JSON.stringify(folder)}).length);
    }`;
  writeFileSync(image, Buffer.alloc(4 * MIB, 1));
  const small = ['-c', `mount -t tmpfs -o size=1m tmpfs ${folder} && exec ${process.execPath} --input-type=module -e "$0"`, script];
  const { status, stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', ...small], { encoding: 'utf8' });
  if (status !== 0 && /unshare|mount/.test(stderr)) return t.skip(`no small file system can be mounted here: ${stderr.trim()}`);
  assert.equal(stdout, 'DISK_FULL there is no room for the image an/image on the volume of its PVC 0\n', stderr);
  assert.equal(existsSync(disk()), false);
});

test('a disk that is larger than any file is told as such, and not as a lack of room', () => {
  writeRaw();
  assert.throws(() => fill(2 ** 62), { code: 'DISK_TOO_LARGE', message: /a disk of 4Ei is larger/, fix: /smaller size/ });
  assert.deepEqual(readdirSync(folder), []);
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { importImage } from '../import-file.ts';
import { openImageStore } from '../store.ts';
import { plainDisk } from './import-disk.ts';

const RAW = Buffer.concat([Buffer.alloc(4096, 'disk'), Buffer.alloc(2 ** 20), Buffer.alloc(512, 'end')]);
const OVF = '<Envelope><References><File id="f" href="disk.vmdk"/></References><DiskSection><Disk fileRef="f"/></DiskSection></Envelope>';

function world(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'ova-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const [storeDir, parts, work] = [join(dir, 'store'), join(dir, 'parts'), join(dir, 'work')];
  for (const each of [parts, work]) mkdirSync(each);
  writeFileSync(join(dir, 'raw'), RAW);
  execFileSync('qemu-img', [
    'convert',
    '-f',
    'raw',
    '-O',
    'vmdk',
    '-o',
    'subformat=streamOptimized',
    join(dir, 'raw'),
    join(parts, 'disk.vmdk'),
  ]);
  const put = (name: string, content: Buffer | string) => writeFileSync(join(parts, name), content);
  put('x.ovf', OVF);
  const digestOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(parts, name)))
      .digest('hex');
  const archiveAs = (options: readonly string[], ...names: readonly string[]) => {
    execFileSync('tar', ['-cf', join(dir, 'machine'), ...options, '-C', parts, ...names]);
    return join(dir, 'machine');
  };
  const archive = (...names: readonly string[]) => archiveAs(['--format=ustar'], ...names);
  const notes: string[] = [];
  const onNote = (note: string) => void notes.push(note);
  const bring = (path: string) =>
    importImage({ storeDir, path, reference: 'localhost/machine:1', searchPath: process.env['PATH'], onNote });
  const signal = new AbortController().signal;
  const plain = (path: string, bytes: number) =>
    plainDisk({ path, name: 'x', searchPath: process.env['PATH'], signal, limits: { dataBytes: bytes, sizeBytes: bytes } }, work);
  const assertStored = async () => {
    const disk = join(await openImageStore(storeDir).unpacked('localhost/machine:1'), 'disk', 'disk.qcow2');
    execFileSync('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', disk, join(dir, 'back')]);
    assert.ok(readFileSync(join(dir, 'back')).subarray(0, RAW.length).equals(RAW));
  };
  const leftovers = () => readdirSync(storeDir).filter((name) => name.startsWith('.import'));
  return { dir, parts, put, digestOf, archive, archiveAs, notes, bring, plain, assertStored, leftovers };
}

test('the disk of a machine is taken whatever the file is called, with a manifest before or after it, compressed or not', async (t) => {
  const { dir, parts, put, digestOf, archive, bring, assertStored, leftovers } = world(t);
  put('other.vmdk', 'another disk');
  put('x.mf', `SHA256(x.ovf)= ${digestOf('x.ovf')}\nSHA256(disk.vmdk)= ${digestOf('disk.vmdk')}\n`);
  for (const names of [
    ['x.ovf', 'disk.vmdk'],
    ['x.ovf', 'x.mf', 'other.vmdk', 'disk.vmdk'],
    ['./x.ovf', './disk.vmdk', './x.mf'],
  ]) {
    await bring(archive(...names));
    await assertStored();
  }
  writeFileSync(join(dir, 'gz'), gzipSync(readFileSync(archive('x.ovf', 'disk.vmdk'))));
  await bring(join(dir, 'gz'));
  await assertStored();
  writeFileSync(join(parts, 'disk.vmdk'), gzipSync(readFileSync(join(parts, 'disk.vmdk'))));
  await bring(archive('x.ovf', 'disk.vmdk'));
  await assertStored();
  assert.deepEqual(leftovers(), []);
});

test('the description may stand anywhere, and headers of any kind before it', async (t) => {
  const { dir, parts, put, archive, archiveAs, bring, assertStored } = world(t);
  put('a.nvram', 'settings');
  const long = `${'machine-'.repeat(16)}.ovf`;
  renameSync(join(parts, 'x.ovf'), join(parts, long));
  put('x.ovf', OVF);
  const paths = [
    () => archive('disk.vmdk', 'x.ovf'),
    () => archive('a.nvram', './disk.vmdk', './x.ovf'),
    () => archiveAs(['--format=pax', '--pax-option=comment=x'], 'x.ovf', 'disk.vmdk'),
    () => archiveAs(['--format=pax'], long, 'disk.vmdk'),
    () => archiveAs(['--format=gnu'], long, 'disk.vmdk'),
  ];
  for (const path of paths) {
    await bring(path());
    await assertStored();
  }
  writeFileSync(join(dir, 'gz'), gzipSync(readFileSync(archive('disk.vmdk', 'x.ovf'))));
  await bring(join(dir, 'gz'));
  await assertStored();
});

test('a name is an address in the description, and of several disks the others are named', async (t) => {
  const { parts, put, archive, bring, assertStored, notes } = world(t);
  put(
    'x.ovf',
    OVF.replace('href="disk.vmdk"', "href='my%20disk.vmdk'").replace(
      '</References><DiskSection><Disk fileRef="f"/>',
      '<File id="g" href="b.vmdk"/><File id="h" href="c%20d.vmdk"/></References><DiskSection><Disk fileRef="f"/><Disk fileRef="g"/><Disk fileRef="h"/>',
    ),
  );
  renameSync(join(parts, 'disk.vmdk'), join(parts, 'my disk.vmdk'));
  put('b.vmdk', 'another disk');
  await bring(archive('x.ovf', 'b.vmdk', 'my disk.vmdk'));
  await assertStored();
  assert.deepEqual(notes, [
    'machine has 3 disks: "my disk.vmdk" is taken, "b.vmdk", "c d.vmdk" are not; tar -xf unpacks the archive, and each disk can be imported alone',
  ]);
});

const REFUSED: readonly (readonly [string, (w: ReturnType<typeof world>) => string, object])[] = [
  [
    'a disk that is not what the manifest says',
    ({ put, digestOf, archive }) => {
      put('x.mf', `SHA256(x.ovf)= ${digestOf('x.ovf')}\nSHA256(disk.vmdk)= ${'0'.repeat(64)}\n`);
      return archive('x.ovf', 'disk.vmdk', 'x.mf');
    },
    { code: 'DIGEST_MISMATCH', message: /disk\.vmdk in machine is not what its manifest says/ },
  ],
  [
    'a manifest without the disk',
    ({ put, digestOf, archive }) => {
      put('x.mf', `SHA256(x.ovf)= ${digestOf('x.ovf')}\n`);
      return archive('x.ovf', 'x.mf', 'disk.vmdk');
    },
    { code: 'OVA_REFUSED', why: /its manifest does not have "disk.vmdk"/ },
  ],
  ['a disk that is not there', ({ archive }) => archive('x.ovf'), { code: 'OVA_REFUSED', why: /it does not have "disk.vmdk"/ }],
  [
    'a link in the place of the disk',
    ({ parts, archive }) => {
      rmSync(join(parts, 'disk.vmdk'));
      symlinkSync('/etc/shadow', join(parts, 'disk.vmdk'));
      return archive('x.ovf', 'disk.vmdk');
    },
    { code: 'OVA_REFUSED', why: /is a symlink/ },
  ],
  ...(['gnu', 'pax'] as const).map(
    (format) =>
      [
        `a disk whose holes are left out, as ${format} has it`,
        ({ parts, archiveAs }: ReturnType<typeof world>) => {
          truncateSync(join(parts, 'disk.vmdk'), 2 ** 22);
          return archiveAs([`--format=${format}`, '--sparse'], 'x.ovf', 'disk.vmdk');
        },
        { code: 'OVA_REFUSED', why: /sparse/, fix: /tar --format=ustar/ },
      ] as const,
  ),
  [
    'a disk, and no description',
    ({ archive }) => archive('disk.vmdk'),
    { code: 'OVA_REFUSED', why: /without the description of a machine/ },
  ],
  [
    'a description that names no disk',
    ({ put, archive }) => {
      put('x.ovf', '<Envelope/>');
      return archive('x.ovf', 'disk.vmdk');
    },
    { code: 'OVA_REFUSED', why: /names no disk/ },
  ],
  [
    'a description without end',
    ({ put, archive }) => {
      put('x.ovf', ' '.repeat(2 ** 20 + 1));
      return archive('x.ovf', 'disk.vmdk');
    },
    { code: 'OVA_REFUSED', why: /more than 1Mi/ },
  ],
  [
    'one that is cut off',
    ({ dir, archive }) => {
      writeFileSync(join(dir, 'cut'), readFileSync(archive('x.ovf', 'disk.vmdk')).subarray(0, 3000));
      return join(dir, 'cut');
    },
    { code: 'DISK_DAMAGED' },
  ],
];
for (const [what, make, error] of REFUSED)
  test(`an OVA with ${what} is refused, and nothing of it is kept`, async (t) => {
    const made = world(t);
    await assert.rejects(made.bring(make(made)), error);
    assert.deepEqual(made.leftovers(), []);
  });

test('a disk in an archive that is larger than there may be is given up', async (t) => {
  const { archive, plain } = world(t);
  await assert.rejects(plain(archive('x.ovf', 'disk.vmdk'), 1000), { code: 'DISK_TOO_LARGE' });
});

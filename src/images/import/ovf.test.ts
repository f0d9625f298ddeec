import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestsIn, disksIn } from './ovf.ts';

const FILES = '<References><File ovf:href="b.vmdk" ovf:id="file2"/><File ovf:id="file1" ovf:href="a &amp; b.vmdk" /></References>';
const cases: readonly (readonly [string, string, object])[] = [
  [
    'the file of the first disk that has one',
    `${FILES}<DiskSection><Info/><Disk ovf:diskId="empty"/><Disk ovf:diskId="d" ovf:fileRef="file1"/><Disk ovf:fileRef="file2"/></DiskSection>`,
    { first: ['a & b.vmdk'], others: ['b.vmdk'] },
  ],
  ['any prefix, or none', '<o:File o:id="f" o:href="x"/><Disk fileRef="f"></Disk>', { first: ['x'], others: [] }],
  [
    'nothing in comments',
    `<!-- ${FILES}<Disk fileRef="file1"/> --><File id="f" href="x"/><Disk fileRef="f"/><!--`,
    { first: ['x'], others: [] },
  ],
  [
    'names as addresses, in single quotes, and one that is no address',
    "<File id = 'f' href='./my%20disk.vmdk'/><File id='g' href='100%.vmdk'/><Disk fileRef='f'/><Disk fileRef='g'/>",
    { first: ['./my%20disk.vmdk', 'my disk.vmdk'], others: ['100%.vmdk'] },
  ],
  ['no disk', FILES, { why: 'its description names no disk' }],
  ['no file of that name', '<Disk fileRef="f"/>', { why: 'its description does not say which file its disk is' }],
  ['an overlay', `${FILES}<Disk fileRef="file1" parentRef="p"/>`, { why: 'its disk is what has changed of another one' }],
];
for (const [what, text, expected] of cases) test(`an OVF: ${what}`, () => assert.deepEqual(disksIn(text), expected));

test('descriptions that are made to take long do not', () => {
  const started = performance.now();
  for (const piece of ['<!--', '<Disk ', '<Disk a', '<Disk fileRef="', 'a', ' ', '<Disk x="" ', "<Disk x='", '<Disk x = ', '<Disk x=\' " '])
    disksIn(`<File ${piece.repeat(2 ** 20 / piece.length)}`);
  assert.ok(performance.now() - started < 2000);
});

test('digests are read as tools write them', () => {
  const [sha1, sha256] = ['a'.repeat(40), 'B'.repeat(64)];
  assert.deepEqual(
    [...digestsIn(`SHA256(disk 1.vmdk)= ${sha256}\r\nSHA1 (x.ovf) = ${sha1}\nMD5(y)= 00\n`)],
    [
      ['disk 1.vmdk', { algorithm: 'sha256', hex: sha256.toLowerCase() }],
      ['x.ovf', { algorithm: 'sha1', hex: sha1 }],
    ],
  );
});

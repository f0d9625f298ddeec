import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestIn } from './checksum-list.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(128)];
const CASES: [what: string, list: string, expected: string | undefined][] = [
  ['sha256sum', `${'c'.repeat(64)}  other.img\n${A}  disk.img\n`, `sha256:${A}`],
  ['sha512sum of a binary file', `${B} *disk.img\n`, `sha512:${B}`],
  ['a path before the name', `${A}  ./images/disk.img\n`, `sha256:${A}`],
  [
    'with --tag, signed and commented',
    `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n# disk.img: 5 bytes\nSHA256 (disk.img) = ${A.toUpperCase()}\n`,
    `sha256:${A}`,
  ],
  ['a digest alone', `${B}\n`, `sha512:${B}`],
  ['a digest alone beside another file', `${B}\n${A}  other.img\n`, undefined],
  ['md5, which proves nothing', `${'a'.repeat(32)}  disk.img\n`, undefined],
  ['a name that only ends alike', `${A}  my-disk.img\n`, undefined],
  ['a web page', '<html>not found</html>', undefined],
];
for (const [what, list, expected] of CASES) test(what, () => assert.equal(digestIn(list, 'disk.img'), expected));

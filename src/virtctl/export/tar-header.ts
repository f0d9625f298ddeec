/** Headers of a plain tar archive: files with short names, and nothing else. Pure. */
import { UserError } from '../../base/errors.ts';

export const BLOCK = 512;
export type TarEntry = { readonly name: string; readonly bytes: number };

/** More needs the other way to write a number. */
const MOST_OCTAL = 8 ** 11 - 1;
const SIZE = { at: 124, length: 12 };
const CHECKSUM = { at: 148, length: 8 };
const FILE = '0';

export function tarHeader({ name, bytes }: TarEntry): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100, 'latin1');
  header.write('0000600\0', 100, 'latin1');
  header.write('0000000\0', 108, 'latin1');
  header.write('0000000\0', 116, 'latin1');
  if (bytes <= MOST_OCTAL) header.write(`${bytes.toString(8).padStart(11, '0')}\0`, SIZE.at, 'latin1');
  else {
    header.writeBigUInt64BE(BigInt(bytes), SIZE.at + 4);
    header[SIZE.at] = 0x80;
  }
  header.write('00000000000\0', 136, 'latin1');
  header.write(FILE, 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, CHECKSUM.at, 'latin1');
  return header;
}

/** Undefined for the end of the archive. A UserError for anything but a file with a name. */
export function readTarHeader(header: Buffer): TarEntry | undefined {
  if (header.every((byte) => byte === 0)) return undefined;
  const text = (at: number, length: number) => header.toString('latin1', at, at + length).replace(/\0.*$/s, '');
  if (text(257, 5) !== 'ustar' || Number.parseInt(text(CHECKSUM.at, CHECKSUM.length), 8) !== checksumOf(header))
    throw damaged('a part of it is no entry of a tar archive');
  if (header.toString('latin1', 156, 157) !== FILE || text(157, 100) !== '' || text(345, 155) !== '')
    throw damaged('it holds something else than plain files with short names');
  return { name: text(0, 100), bytes: sizeIn(header) };
}

/** With what fills the last block. */
export function paddedBytes(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}

export function damaged(why: string): UserError {
  return new UserError('FILE_DAMAGED', 'the file is not a whole machine', {
    why,
    fix: 'export the machine again: nothing of it was imported',
    exitCode: 4,
  });
}

function sizeIn(header: Buffer): number {
  if (header[SIZE.at] === 0x80) {
    const bytes = header.readBigUInt64BE(SIZE.at + 4);
    if (bytes > BigInt(Number.MAX_SAFE_INTEGER) || header.readUInt32BE(SIZE.at) !== 0x80000000)
      throw damaged('an entry of it is too large');
    return Number(bytes);
  }
  const text = header.toString('latin1', SIZE.at, SIZE.at + SIZE.length).replace(/[\0 ]+$/, '');
  if (!/^[0-7]{1,12}$/.test(text)) throw damaged('an entry of it has no size');
  return Number.parseInt(text, 8);
}

/** Of all bytes, with spaces in place of itself. */
function checksumOf(header: Buffer): number {
  let sum = CHECKSUM.length * 0x20;
  for (const [at, byte] of header.entries()) if (at < CHECKSUM.at || at >= CHECKSUM.at + CHECKSUM.length) sum += byte;
  return sum;
}

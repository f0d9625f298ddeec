/** What stands before a file in a tar archive: a header that every tar reads, and before it another with what does not fit into that one. Pure. */
import type { VolumeFile } from './list-files.ts';

const BLOCK_BYTES = 512;
/** Blocks of zeros, as many as every tar writes. */
export const TAR_END_BYTES = 2 * BLOCK_BYTES;

const TYPES: Readonly<Record<VolumeFile['type'] | 'more', string>> = { file: '0', link: '2', folder: '5', more: 'x' };
const MOST_NAME_BYTES = 100;
const MOST_SIZE = 8 ** 11 - 1;
const MOST_ID = 8 ** 7 - 1;
const CHECKSUM = { at: 148, length: 8 };
const PLAIN = /^[\x20-\x7e]*$/;

/** Its length does not change as long as the entry does not. */
export function tarHeaderOf(entry: VolumeFile): Buffer {
  const name = entry.type === 'folder' ? `${entry.path}/` : entry.path;
  const { target = '', sizeBytes, userId, groupId, modifiedSeconds } = entry;
  const more = [
    ...(fits(name) ? [] : [record('path', name)]),
    ...(fits(target) ? [] : [record('linkpath', target)]),
    ...(sizeBytes <= MOST_SIZE ? [] : [record('size', String(sizeBytes))]),
    ...(userId <= MOST_ID ? [] : [record('uid', String(userId))]),
    ...(groupId <= MOST_ID ? [] : [record('gid', String(groupId))]),
    ...(modifiedSeconds >= 0 && modifiedSeconds <= MOST_SIZE ? [] : [record('mtime', String(modifiedSeconds))]),
  ];
  const plain = header({ ...entry, name, target, type: TYPES[entry.type] });
  if (more.length === 0) return plain;
  const bytes = Buffer.concat(more);
  const before = { mode: 0o600, userId: 0, groupId: 0, modifiedSeconds: 0, target: '', sizeBytes: bytes.length };
  return Buffer.concat([header({ ...before, name: 'more', type: TYPES.more }), bytes, Buffer.alloc(paddingOf(bytes.length)), plain]);
}

/** What fills the last block. */
export function paddingOf(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

function fits(text: string): boolean {
  return text.length <= MOST_NAME_BYTES && PLAIN.test(text);
}

/** `LENGTH KEY=VALUE\n`, whose length counts itself. */
function record(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

type HeaderFields = Pick<VolumeFile, 'mode' | 'userId' | 'groupId' | 'modifiedSeconds' | 'sizeBytes'> & {
  readonly name: string;
  readonly target: string;
  readonly type: string;
};

function header(fields: HeaderFields): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, length: number) =>
    block.write(
      `${Math.min(Math.max(value, 0), 8 ** (length - 1) - 1)
        .toString(8)
        .padStart(length - 1, '0')}\0`,
      at,
      'latin1',
    );
  block.write(fields.name, 0, MOST_NAME_BYTES, 'utf8');
  octal(fields.mode, 100, 8);
  octal(fields.userId, 108, 8);
  octal(fields.groupId, 116, 8);
  octal(fields.sizeBytes, 124, 12);
  octal(fields.modifiedSeconds, 136, 12);
  block.write(fields.type, 156, 'latin1');
  block.write(fields.target, 157, MOST_NAME_BYTES, 'utf8');
  block.write('ustar\x0000', 257, 'latin1');
  block.fill(0x20, CHECKSUM.at, CHECKSUM.at + CHECKSUM.length);
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM.at, 'latin1');
  return block;
}

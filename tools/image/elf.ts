/** Which libraries a program asks for: the NEEDED entries of its dynamic section, and its loader. Read from the file, nothing is run. */
import { readFileSync } from 'node:fs';

const PROGRAM_HEADER = { load: 1, dynamic: 2, interpreter: 3 } as const;
const TAG = { end: 0, needed: 1, stringTable: 5 } as const;

/** Names as the program spells them, such as `libc.so.6`; empty for a static program or a file that is none. */
export function neededLibraries(path: string): string[] {
  const file = readFileSync(path);
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) return []; // not ELF, 64 bits, little-endian
  const headers = programHeaders(file);
  const dynamic = headers.find(({ type }) => type === PROGRAM_HEADER.dynamic);
  if (!dynamic) return [];
  const entries: { tag: number; value: number }[] = [];
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    const tag = Number(file.readBigInt64LE(at));
    if (tag === TAG.end) break;
    entries.push({ tag, value: Number(file.readBigUInt64LE(at + 8)) });
  }
  const address = entries.find(({ tag }) => tag === TAG.stringTable)?.value ?? 0;
  const table = headers.find(({ type, at, size }) => type === PROGRAM_HEADER.load && at <= address && address < at + size);
  if (!table) return [];
  const strings = address - table.at + table.offset;
  return entries.filter(({ tag }) => tag === TAG.needed).map(({ value }) => textAt(file, strings + value));
}

/** The program that loads it, such as `/lib64/ld-linux-x86-64.so.2`. */
export function loaderOf(path: string): string | undefined {
  const file = readFileSync(path);
  const header = programHeaders(file).find(({ type }) => type === PROGRAM_HEADER.interpreter);
  return header && textAt(file, header.offset);
}

type Header = { readonly type: number; readonly offset: number; readonly at: number; readonly size: number };

function programHeaders(file: Buffer): Header[] {
  const start = Number(file.readBigUInt64LE(32));
  const [size, count] = [file.readUInt16LE(54), file.readUInt16LE(56)];
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * size;
    const number = (offset: number) => Number(file.readBigUInt64LE(at + offset));
    return { type: file.readUInt32LE(at), offset: number(8), at: number(16), size: number(32) };
  });
}

function textAt(file: Buffer, at: number): string {
  return file.toString('latin1', at, file.indexOf(0, at));
}

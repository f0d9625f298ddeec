/** What a program needs to run, as its ELF header says: the libraries by name and the loader by path. 64-bit little-endian only. */

export type ElfNeeds = { readonly libraries: readonly string[]; readonly interpreter?: string };

const LOAD = 1;
const DYNAMIC = 2;
const INTERPRETER = 3;
const TAG_NEEDED = 1n;
const TAG_STRING_TABLE = 5n;

/** Throws for anything that is not such a file. */
export function readElfNeeds(file: Buffer): ElfNeeds {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) throw new Error('not a 64-bit little-endian ELF file');
  const headers = programHeaders(file);
  const text = (offset: number) => file.toString('latin1', offset, file.indexOf(0, offset));
  const loader = headers.find(({ type }) => type === INTERPRETER);
  const tags = dynamicTags(file, headers);
  const names = tags.find(({ tag }) => tag === TAG_STRING_TABLE);
  const libraries = names
    ? tags.filter(({ tag }) => tag === TAG_NEEDED).map(({ value }) => text(offsetOf(names.value, headers) + value))
    : [];
  return { libraries, ...(loader && { interpreter: text(loader.offset) }) };
}

type Header = { readonly type: number; readonly offset: number; readonly address: number; readonly size: number };

function programHeaders(file: Buffer): Header[] {
  const start = Number(file.readBigUInt64LE(32));
  const size = file.readUInt16LE(54);
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
    const at = start + index * size;
    const number = (offset: number) => Number(file.readBigUInt64LE(at + offset));
    return { type: file.readUInt32LE(at), offset: number(8), address: number(16), size: number(32) };
  });
}

function dynamicTags(file: Buffer, headers: readonly Header[]): { tag: bigint; value: number }[] {
  const dynamic = headers.find(({ type }) => type === DYNAMIC);
  if (!dynamic) return [];
  return Array.from({ length: dynamic.size / 16 }, (_, index) => {
    const at = dynamic.offset + index * 16;
    return { tag: file.readBigUInt64LE(at), value: Number(file.readBigUInt64LE(at + 8)) };
  });
}

function offsetOf(address: number, headers: readonly Header[]): number {
  const segment = headers.find((each) => each.type === LOAD && address >= each.address && address < each.address + each.size);
  if (!segment) throw new Error('the ELF file points outside itself');
  return address - segment.address + segment.offset;
}

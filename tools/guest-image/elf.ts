/** What a program needs to run, as its ELF header says: the libraries by name and the loader by path. Little-endian, of 32 or 64 bits. */

export type ElfNeeds = { readonly libraries: readonly string[]; readonly interpreter?: string };

const MAGIC = 0x7f454c46;
const LOAD = 1;
const DYNAMIC = 2;
const INTERPRETER = 3;
const TAG_NEEDED = 1;
const TAG_STRING_TABLE = 5;

/** Where a field is, which is the same in each entry of its table. */
type Layout = {
  readonly bytes: 4 | 8;
  /** In the file: where program headers begin, how large one is, how many there are. */
  readonly headers: readonly [start: number, size: number, count: number];
  /** In a program header. */
  readonly offset: number;
  readonly address: number;
  readonly size: number;
};
const LAYOUTS: Readonly<Record<number, Layout>> = {
  1: { bytes: 4, headers: [28, 42, 44], offset: 4, address: 8, size: 16 },
  2: { bytes: 8, headers: [32, 54, 56], offset: 8, address: 16, size: 32 },
};

/** Throws for anything that is not such a file. */
export function readElfNeeds(file: Buffer): ElfNeeds {
  const layout = file.readUInt32BE(0) === MAGIC && file[5] === 1 ? LAYOUTS[file[4] ?? 0] : undefined;
  if (!layout) throw new Error('not a little-endian ELF file of 32 or 64 bits');
  const headers = programHeaders(file, layout);
  const text = (offset: number) => file.toString('latin1', offset, file.indexOf(0, offset));
  const loader = headers.find(({ type }) => type === INTERPRETER);
  const tags = dynamicTags(file, headers, layout);
  const names = tags.find(({ tag }) => tag === TAG_STRING_TABLE);
  const libraries = names
    ? tags.filter(({ tag }) => tag === TAG_NEEDED).map(({ value }) => text(offsetOf(names.value, headers) + value))
    : [];
  return { libraries, ...(loader && { interpreter: text(loader.offset) }) };
}

type Header = { readonly type: number; readonly offset: number; readonly address: number; readonly size: number };

function numberAt(file: Buffer, at: number, { bytes }: Layout): number {
  return bytes === 8 ? Number(file.readBigUInt64LE(at)) : file.readUInt32LE(at);
}

function programHeaders(file: Buffer, layout: Layout): Header[] {
  const [start, size, count] = layout.headers;
  const first = numberAt(file, start, layout);
  return Array.from({ length: file.readUInt16LE(count) }, (_, index) => {
    const at = first + index * file.readUInt16LE(size);
    const number = (offset: number) => numberAt(file, at + offset, layout);
    return { type: file.readUInt32LE(at), offset: number(layout.offset), address: number(layout.address), size: number(layout.size) };
  });
}

function dynamicTags(file: Buffer, headers: readonly Header[], layout: Layout): { tag: number; value: number }[] {
  const dynamic = headers.find(({ type }) => type === DYNAMIC);
  if (!dynamic) return [];
  return Array.from({ length: dynamic.size / (2 * layout.bytes) }, (_, index) => {
    const at = dynamic.offset + index * 2 * layout.bytes;
    return { tag: numberAt(file, at, layout), value: numberAt(file, at + layout.bytes, layout) };
  });
}

function offsetOf(address: number, headers: readonly Header[]): number {
  const segment = headers.find((each) => each.type === LOAD && address >= each.address && address < each.address + each.size);
  if (!segment) throw new Error('the ELF file points outside itself');
  return address - segment.address + segment.offset;
}

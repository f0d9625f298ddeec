/**
 * Writes a small ISO 9660 image: some files in the root folder, once with relaxed ISO names and once with Joliet names, which between them
 * every guest can read. No dates, so the same files always give the same image.
 */
import { UserError } from '../base/errors.ts';

const SECTOR = 2048;
/** Sectors 0-15 belong to the system; then primary descriptor, Joliet descriptor, end, two path tables each, two root folders, data. */
const AT = { primary: 16, joliet: 17, end: 18, primaryPaths: 19, jolietPaths: 21, primaryRoot: 23, jolietRoot: 24, data: 25 } as const;
/** Some readers look at whole pages only. */
const SIZE_MULTIPLE = 4096;

type Placed = { readonly name: string; readonly content: Buffer; readonly sector: number };

/** The bytes of an image with this label and these files. */
export function createIso(label: string, files: Readonly<Record<string, string | Buffer>>): Buffer {
  const placed = place(files);
  const sectors = placed.reduce<number>((end, { sector, content }) => Math.max(end, sector + sectorsFor(content.length)), AT.data);
  const iso = Buffer.alloc(Math.ceil((sectors * SECTOR) / SIZE_MULTIPLE) * SIZE_MULTIPLE);
  const totalSectors = iso.length / SECTOR;
  descriptor(iso, { sector: AT.primary, type: 1, label: padded(label, 32), paths: AT.primaryPaths, root: AT.primaryRoot, totalSectors });
  descriptor(iso, { sector: AT.joliet, type: 2, label: wide(label, 32), paths: AT.jolietPaths, root: AT.jolietRoot, totalSectors });
  iso.write('\xffCD001\x01', AT.end * SECTOR, 'latin1');
  folder(iso, AT.primaryRoot, placed, (name) => Buffer.from(name, 'latin1'));
  folder(iso, AT.jolietRoot, placed, (name) => wide(name));
  for (const { sector, content } of placed) content.copy(iso, sector * SECTOR);
  return iso;
}

/** Files sorted by name, as a folder must be, one behind the other. */
function place(files: Readonly<Record<string, string | Buffer>>): Placed[] {
  let sector: number = AT.data;
  return Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => {
      if (!/^[a-z0-9_.-]{1,30}$/i.test(name))
        throw new UserError('ISO_NAME_INVALID', `${JSON.stringify(name)} cannot be a file of an ISO image`);
      const content = Buffer.from(value as string); // the overloads of Buffer.from do not take a union
      const placed = { name, content, sector };
      sector += sectorsFor(content.length);
      return placed;
    });
}

function sectorsFor(bytes: number): number {
  return Math.ceil(bytes / SECTOR);
}

type Descriptor = { sector: number; type: number; label: Buffer; paths: number; root: number; totalSectors: number };

function descriptor(iso: Buffer, { sector, type, label, paths, root, totalSectors }: Descriptor): void {
  const at = iso.subarray(sector * SECTOR, (sector + 1) * SECTOR);
  const isJoliet = type === 2;
  const blank = (from: number, to: number) => (isJoliet ? wide('', to - from) : padded('', to - from)).copy(at, from);
  at.write(`${String.fromCharCode(type)}CD001\x01`, 0, 'latin1');
  blank(8, 40);
  label.copy(at, 40);
  both32(at, 80, totalSectors);
  if (isJoliet) at.write('%/E', 88, 'latin1'); // UCS-2 level 3
  both16(at, 120, 1);
  both16(at, 124, 1);
  both16(at, 128, SECTOR);
  both32(at, 132, 10); // bytes of a path table that holds the root alone
  at.writeUInt32LE(paths, 140);
  at.writeUInt32BE(paths + 1, 148);
  record(at, 156, { name: Buffer.from([0]), sector: root, bytes: SECTOR, isFolder: true });
  blank(190, 813);
  for (const offset of [813, 830, 847, 864]) at.write('0000000000000000\0', offset, 'latin1'); // dates: not given
  at[881] = 1;
  pathTable(
    iso,
    paths,
    root,
    (table, value) => table.writeUInt32LE(value, 2),
    (table) => table.writeUInt16LE(1, 6),
  );
  pathTable(
    iso,
    paths + 1,
    root,
    (table, value) => table.writeUInt32BE(value, 2),
    (table) => table.writeUInt16BE(1, 6),
  );
}

function pathTable(
  iso: Buffer,
  sector: number,
  root: number,
  writeRoot: (table: Buffer, value: number) => void,
  writeParent: (table: Buffer) => void,
): void {
  const table = iso.subarray(sector * SECTOR);
  table[0] = 1;
  writeRoot(table, root);
  writeParent(table);
}

function folder(iso: Buffer, sector: number, files: readonly Placed[], encode: (name: string) => Buffer): void {
  const at = iso.subarray(sector * SECTOR, (sector + 1) * SECTOR);
  let offset = 0;
  const self = { sector, bytes: SECTOR, isFolder: true };
  offset += record(at, offset, { ...self, name: Buffer.from([0]) });
  offset += record(at, offset, { ...self, name: Buffer.from([1]) });
  for (const file of files) {
    const entry = { name: encode(file.name), sector: file.sector, bytes: file.content.length, isFolder: false };
    if (offset + recordLength(entry.name) > SECTOR) throw new UserError('ISO_TOO_MANY_FILES', 'too many files for a small ISO image');
    offset += record(at, offset, entry);
  }
}

type Entry = { readonly name: Buffer; readonly sector: number; readonly bytes: number; readonly isFolder: boolean };

function record(at: Buffer, offset: number, { name, sector, bytes, isFolder }: Entry): number {
  const length = recordLength(name);
  at[offset] = length;
  both32(at, offset + 2, sector);
  both32(at, offset + 10, bytes);
  at.set([70, 1, 1, 0, 0, 0, 0], offset + 18); // 1970-01-01
  at[offset + 25] = isFolder ? 2 : 0;
  both16(at, offset + 28, 1);
  at[offset + 32] = name.length;
  name.copy(at, offset + 33);
  return length;
}

function recordLength(name: Buffer): number {
  const length = 33 + name.length;
  return length + (length % 2);
}

function both16(at: Buffer, offset: number, value: number): void {
  at.writeUInt16LE(value, offset);
  at.writeUInt16BE(value, offset + 2);
}

function both32(at: Buffer, offset: number, value: number): void {
  at.writeUInt32LE(value, offset);
  at.writeUInt32BE(value, offset + 4);
}

function padded(text: string, length: number): Buffer {
  return Buffer.from(text.padEnd(length, ' ').slice(0, length), 'latin1');
}

/** UCS-2, big endian, filled with spaces. An odd byte at the end stays zero. */
function wide(text: string, length = text.length * 2): Buffer {
  const bytes = Buffer.alloc(length);
  const characters = text.padEnd(Math.floor(length / 2), ' ');
  for (let i = 0; i * 2 + 1 < length; i++) bytes.writeUInt16BE(characters.charCodeAt(i), i * 2);
  return bytes;
}

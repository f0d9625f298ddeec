/**
 * Writes a small ISO 9660 image: files in folders, once with relaxed ISO names and once with Joliet names, which between them every guest
 * can read. No dates, so the same files always give the same image.
 */
import { UserError } from '../base/errors.ts';

const SECTOR = 2048;
/** Sectors 0-15 belong to the system; then primary descriptor, Joliet descriptor, end, two path tables each, the folders of each, data. */
const AT = { primary: 16, joliet: 17, end: 18, tables: 19 } as const;
/** Some readers look at whole pages only. */
const SIZE_MULTIPLE = 4096;
/** What a record of a folder holds of a Joliet name; the standard says 64, and everybody reads as much as there is room for. */
const FILE_NAME = /^[\w.+=@,~ -]{1,103}$/;
const ROOT_NAME = Buffer.from([0]);
const PARENT_NAME = Buffer.from([1]);

/** Files by their paths, with / between folders. */
export type IsoFiles = Readonly<Record<string, string | Buffer>>;

type File = { readonly name: string; readonly content: Buffer; sector: number };
type Folder = { readonly name: string; readonly parent: Folder | undefined; readonly folders: Folder[]; readonly files: File[] };
/** One of the two trees of names. */
type Tree = {
  readonly encode: (name: string) => Buffer;
  /** Every folder with its number, the root first, each level behind the one above, which is the order of a path table. */
  readonly order: readonly Folder[];
  /** Where the records of each folder begin. */
  readonly sectorOf: ReadonlyMap<Folder, number>;
  readonly tableAt: number;
  readonly tableBytes: number;
};

/** The bytes of an image with this label and these files. */
export function createIso(label: string, files: IsoFiles): Buffer {
  const order = inOrder(treeOf(files));
  const [ofPrimary, ofJoliet] = [(name: string) => Buffer.from(name, 'latin1'), (name: string) => wide(name)];
  const layout = { next: AT.tables as number };
  const primaryTable = takeTables(layout, order, ofPrimary);
  const jolietTable = takeTables(layout, order, ofJoliet);
  const primary: Tree = { encode: ofPrimary, order, ...primaryTable, sectorOf: takeFolders(layout, order, ofPrimary) };
  const joliet: Tree = { encode: ofJoliet, order, ...jolietTable, sectorOf: takeFolders(layout, order, ofJoliet) };
  for (const file of order.flatMap((folder) => folder.files)) file.sector = take(layout, file.content.length);
  const iso = Buffer.alloc(Math.ceil((layout.next * SECTOR) / SIZE_MULTIPLE) * SIZE_MULTIPLE);
  descriptor(iso, { sector: AT.primary, type: 1, label: padded(label, 32), tree: primary });
  descriptor(iso, { sector: AT.joliet, type: 2, label: wide(label, 32), tree: joliet });
  iso.write('\xffCD001\x01', AT.end * SECTOR, 'latin1');
  for (const tree of [primary, joliet]) {
    pathTables(iso, tree);
    for (const folder of order) folderRecords(iso, folder, tree);
  }
  for (const { sector, content } of order.flatMap((folder) => folder.files)) content.copy(iso, sector * SECTOR);
  return iso;
}

function treeOf(files: IsoFiles): Folder {
  const root: Folder = { name: '', parent: undefined, folders: [], files: [] };
  for (const [path, value] of Object.entries(files)) {
    const steps = path.split('/');
    const name = steps.pop() ?? '';
    const folder = steps.reduce(folderIn, root);
    const content = Buffer.from(value as string); // the overloads of Buffer.from do not take a union
    folder.files.push({ name: checked(name), content, sector: 0 });
  }
  return root;
}

function folderIn(parent: Folder, name: string): Folder {
  const found = parent.folders.find((folder) => folder.name === name);
  if (found) return found;
  const folder: Folder = { name: checked(name), parent, folders: [], files: [] };
  parent.folders.push(folder);
  return folder;
}

function checked(name: string): string {
  if (FILE_NAME.test(name) && name !== '.' && name !== '..') return name;
  throw new UserError('ISO_NAME_INVALID', `${JSON.stringify(name.slice(0, 120))} cannot be a file of an ISO image`, {
    why: 'a name has at most 103 letters, digits and signs such as . - and _',
  });
}

/** Level by level, each sorted by parent and name. */
function inOrder(root: Folder): Folder[] {
  const order = [root];
  for (const folder of order) {
    folder.files.sort(byName);
    order.push(...folder.folders.sort(byName));
  }
  return order;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

type Layout = { next: number };

function take(layout: Layout, bytes: number): number {
  const sector = layout.next;
  layout.next += Math.ceil(bytes / SECTOR);
  return sector;
}

/** Two tables, one for each order of bytes. */
function takeTables(layout: Layout, order: readonly Folder[], encode: Tree['encode']): Pick<Tree, 'tableAt' | 'tableBytes'> {
  const tableBytes = order.reduce((bytes, folder) => bytes + tableEntryLength(nameOf(folder, encode)), 0);
  const tableAt = take(layout, tableBytes);
  take(layout, tableBytes);
  return { tableAt, tableBytes };
}

function takeFolders(layout: Layout, order: readonly Folder[], encode: Tree['encode']): Map<Folder, number> {
  return new Map(order.map((folder) => [folder, take(layout, folderBytes(folder, encode))]));
}

function nameOf(folder: Folder, encode: Tree['encode']): Buffer {
  return folder.parent ? encode(folder.name) : ROOT_NAME;
}

function tableEntryLength(name: Buffer): number {
  return 8 + name.length + (name.length % 2);
}

type Descriptor = { readonly sector: number; readonly type: number; readonly label: Buffer; readonly tree: Tree };

function descriptor(iso: Buffer, { sector, type, label, tree }: Descriptor): void {
  const at = iso.subarray(sector * SECTOR, (sector + 1) * SECTOR);
  const isJoliet = type === 2;
  const blank = (from: number, to: number) => (isJoliet ? wide('', to - from) : padded('', to - from)).copy(at, from);
  at.write(`${String.fromCharCode(type)}CD001\x01`, 0, 'latin1');
  blank(8, 40);
  label.copy(at, 40);
  both32(at, 80, iso.length / SECTOR);
  if (isJoliet) at.write('%/E', 88, 'latin1'); // UCS-2 level 3
  both16(at, 120, 1);
  both16(at, 124, 1);
  both16(at, 128, SECTOR);
  both32(at, 132, tree.tableBytes);
  at.writeUInt32LE(tree.tableAt, 140);
  at.writeUInt32BE(secondTable(tree), 148);
  const [root] = tree.order;
  if (root) record(at, 156, folderEntry(root, ROOT_NAME, tree));
  blank(190, 813);
  for (const offset of [813, 830, 847, 864]) at.write('0000000000000000\0', offset, 'latin1'); // dates: not given
  at[881] = 1;
}

function secondTable({ tableAt, tableBytes }: Tree): number {
  return tableAt + Math.ceil(tableBytes / SECTOR);
}

function pathTables(iso: Buffer, tree: Tree): void {
  const numbers = new Map(tree.order.map((folder, index) => [folder, index + 1]));
  let offset = 0;
  for (const folder of tree.order) {
    const name = nameOf(folder, tree.encode);
    const sector = tree.sectorOf.get(folder) ?? 0;
    const parent = numbers.get(folder.parent ?? folder) ?? 1;
    const [little, big] = [tree.tableAt * SECTOR + offset, secondTable(tree) * SECTOR + offset];
    for (const at of [little, big]) {
      iso[at] = name.length;
      name.copy(iso, at + 8);
    }
    iso.writeUInt32LE(sector, little + 2);
    iso.writeUInt16LE(parent, little + 6);
    iso.writeUInt32BE(sector, big + 2);
    iso.writeUInt16BE(parent, big + 6);
    offset += tableEntryLength(name);
  }
}

type Entry = { readonly name: Buffer; readonly sector: number; readonly bytes: number; readonly isFolder: boolean };

function folderEntry(folder: Folder, name: Buffer, { encode, sectorOf }: Tree): Entry {
  return { name, sector: sectorOf.get(folder) ?? 0, bytes: folderBytes(folder, encode), isFolder: true };
}

function folderRecords(iso: Buffer, folder: Folder, tree: Tree): void {
  const at = iso.subarray((tree.sectorOf.get(folder) ?? 0) * SECTOR);
  const entries = [...folder.folders, ...folder.files].sort(byName).map((entry): Entry => {
    const name = tree.encode(entry.name);
    if (!('content' in entry)) return folderEntry(entry, name, tree);
    return { name, sector: entry.sector, bytes: entry.content.length, isFolder: false };
  });
  const self = folderEntry(folder, ROOT_NAME, tree);
  const above = folderEntry(folder.parent ?? folder, PARENT_NAME, tree);
  let offset = 0;
  for (const entry of [self, above, ...entries]) {
    offset = placeFor(offset, entry.name);
    offset += record(at, offset, entry);
  }
}

/** In whole sectors. */
function folderBytes({ folders, files }: Folder, encode: Tree['encode']): number {
  const names = [ROOT_NAME, PARENT_NAME, ...[...folders, ...files].sort(byName).map(({ name }) => encode(name))];
  const end = names.reduce((offset, name) => placeFor(offset, name) + recordLength(name), 0);
  return Math.ceil(end / SECTOR) * SECTOR;
}

/** A record never lies in two sectors. */
function placeFor(offset: number, name: Buffer): number {
  const room = SECTOR - (offset % SECTOR);
  return room < recordLength(name) ? offset + room : offset;
}

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

/**
 * Whether all of a VMDK is in the one file. What QEMU reads is what is looked at: the header, the second header at the end when the first one says
 * so, and the sectors after the first, where it looks for a parent wherever the header says that the descriptor is. Numbers are little-endian, offsets in sectors.
 */
import { fstatSync, readSync } from 'node:fs';
import { UserError } from '../../base/errors.ts';

const SECTOR = 512;
/** QEMU reads twenty sectors, other programs as many as the header says. */
const DESCRIPTOR_SECTORS = 20;
const MOST_DESCRIPTOR_SECTORS = 128;
const NEWEST_VERSION = 3;
/** Instead of the place of the first table: a footer has it. */
const AT_END = 2n ** 64n - 1n;
/** The footer, then a marker that nothing comes after it; a marker is before it, too. */
const FOOTER_SECTORS_FROM_END = 2;
/** Everything of such a disk is in the one file. */
const SINGLE_FILE = ['monolithicSparse', 'streamOptimized'];

type Header = ReturnType<typeof headerFrom>;

/** A UserError unless all of it is in this file, which is open. */
export function assertSingleFile(file: number): void {
  const header = headerFrom(read(file, SECTOR, 0));
  // Without a capacity the descriptor decides what else is opened.
  if (header.capacity === 0n) throw refused('it says nothing of its size, and leaves that to other files');
  if (header.descriptorAt !== 1n) throw refused('its descriptor is not where every program looks for it');
  if (header.tableAt === AT_END) assertSameAtEnd(file, header);
  const sectors = Math.min(Math.max(Number(header.descriptorSectors), DESCRIPTOR_SECTORS), MOST_DESCRIPTOR_SECTORS);
  assertDescriptor(read(file, sectors * SECTOR, SECTOR).toString('latin1'));
}

/** Keys are looked for in any spelling and anywhere: who reads a descriptor takes them by search, not by grammar. */
function assertDescriptor(all: string): void {
  const [text = ''] = all.split('\0');
  const types = [...text.matchAll(/createType\s*=\s*"?([^"\n]*)/gi)].map(([, type = '']) => type.trim());
  const other = types.find((type) => !SINGLE_FILE.includes(type));
  if (types.length === 0 || other !== undefined)
    throw refused(`it is of type ${JSON.stringify((other ?? '').slice(0, 40))}, taken are ${SINGLE_FILE.join(' and ')}`);
  const parents = [...all.matchAll(/parentCID\s*=\s*"?([0-9a-fx]*)/gi)];
  if (/parentFileNameHint/i.test(all) || parents.some(([, parent = '']) => !/^f{8}$/i.test(parent)))
    throw refused('it is an overlay of another file, which could be any file of this machine');
  if (/^\s*(?:RW|RDONLY|NOACCESS)\s+\d+\s+(?!SPARSE\b)/im.test(text)) throw refused('its content is in other files');
}

function assertSameAtEnd(file: number, first: Header): void {
  const sectors = Math.ceil(fstatSync(file).size / SECTOR);
  const footer = headerFrom(read(file, SECTOR, (sectors - FOOTER_SECTORS_FROM_END) * SECTOR));
  const isSame = footer.capacity === first.capacity && footer.version === first.version && footer.flags === first.flags;
  if (!isSame || footer.tableAt === AT_END) throw refused('its header at the end is of another disk');
}

function headerFrom(bytes: Buffer) {
  if (bytes.length < SECTOR || bytes.toString('latin1', 0, 4) !== 'KDMV') throw refused('it is not of one sparse file, it names others');
  const version = bytes.readUInt32LE(4);
  if (version === 0 || version > NEWEST_VERSION) throw refused(`it is of version ${version}, which is not known here`);
  return {
    version,
    flags: bytes.readUInt32LE(8),
    capacity: bytes.readBigUInt64LE(12),
    descriptorAt: bytes.readBigUInt64LE(28),
    descriptorSectors: bytes.readBigUInt64LE(36),
    tableAt: bytes.readBigUInt64LE(56),
  };
}

/** Fewer bytes at the end of the file, none before its beginning. */
function read(file: number, length: number, position: number): Buffer {
  const buffer = Buffer.alloc(length);
  return position < 0 ? Buffer.alloc(0) : buffer.subarray(0, readSync(file, buffer, 0, length, position));
}

function refused(why: string): UserError {
  return new UserError('VMDK_REFUSED', 'the VMDK disk is refused', { why, fix: 'convert it where it was made: qemu-img convert -O qcow2' });
}

/**
 * Makes an image of the store from a disk in a file: unpacks it when it is compressed, takes it out of the archive of a machine (OVA), converts it
 * when it is of another format, and takes raw and qcow2 as they are. Whoever wrote the file decides nothing but what the guest sees.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';
import { foreignFormatOf } from '../foreign-formats-table.ts';
import { isQcow2, readQcow2Size } from '../qcow2-header.ts';
import { writeImage } from '../write-image.ts';
import { ARCHIVE_START_BYTES, isOva, isTar } from './archive-start.ts';
import { convertDisk } from './convert-disk.ts';
import { DISK_LIMITS, type DiskLimits, decompress } from './decompress.ts';
import { takeDiskOfOva } from './ova.ts';
import { withWorkFolder } from './work-folder.ts';

export type ImportStage = 'unpack' | 'convert' | 'store';
export type ImportOptions = {
  readonly storeDir: string;
  readonly path: string;
  /** What the disk is called, for people. */
  readonly name: string;
  readonly reference: string;
  /** Of the layer: zstd takes a tenth of the time, gzip is understood by every registry and node. */
  readonly compression: 'zstd' | 'gzip';
  /** Where programs are looked for. */
  readonly searchPath: string | undefined;
  readonly signal: AbortSignal;
  readonly onStage?: (stage: ImportStage, readBytes?: number, ofBytes?: number) => void;
  /** Told what is not as somebody may expect it. */
  readonly onNote?: (note: string) => void;
};

const SECTOR = 512;
const ARCHIVED_DISK = 'archived';
/** What is made in the folder on the way. */
export const HALVES = [ARCHIVED_DISK, 'unpacked', 'converted'] as const;

/** Only a disk that is taken gets the name. */
export async function importDisk(options: ImportOptions): Promise<{ readonly digest: string }> {
  const { storeDir, reference, compression, signal, onStage = () => {} } = options;
  return withWorkFolder(storeDir, async (folder) => {
    const path = await plainDisk(options, folder);
    const { start } = await beginningOf(path);
    const file = { path, name: isQcow2(start) ? 'disk/disk.qcow2' : 'disk/disk.img' };
    const onRead = (readBytes: number, ofBytes: number) => onStage('store', readBytes, ofBytes);
    return writeImage({ dir: storeDir, reference, files: [file], compression, signal, onRead });
  });
}

type Plain = Pick<ImportOptions, 'path' | 'name' | 'searchPath' | 'signal' | 'onStage' | 'onNote'> & { readonly limits?: DiskLimits };

/** The path of a raw or qcow2 disk that can be run: the file itself, or one made of it in `folder`. */
export async function plainDisk(options: Plain, folder: string): Promise<string> {
  const path = await convertedDisk(options, folder);
  const { size, start } = await beginningOf(path);
  if (isQcow2(start)) readQcow2Size(start, options.name);
  else assertRaw(options.name, size, start);
  return path;
}

async function convertedDisk(options: Plain, folder: string): Promise<string> {
  const { name, searchPath, signal, limits = DISK_LIMITS, onStage = () => {} } = options;
  let { path } = options;
  let found = await beginningOf(path);
  const fromArchive = async () => {
    if (!isOva(found.start)) return;
    const into = join(folder, ARCHIVED_DISK);
    onStage('unpack');
    await takeDiskOfOva({ path, name, into, signal, limits, onNote: options.onNote });
    path = into;
    found = await beginningOf(path);
  };
  await fromArchive(); // the disk in it may be compressed; or all of it is
  const compression = foreignFormatOf(found.start);
  if (compression === 'gzip' || compression === 'xz' || compression === 'zstd') {
    const into = join(folder, 'unpacked');
    const { size } = found;
    onStage('unpack', 0, size);
    await decompress({ path, into, compression, searchPath, signal, limits, onRead: (bytes) => onStage('unpack', bytes, size) });
    const isOfArchive = path !== options.path;
    path = into;
    found = await beginningOf(path);
    if (!isOfArchive) await fromArchive();
  }
  const format = foreignFormatOf(found.start);
  if (format === undefined) return path;
  if (format !== 'VMDK' && format !== 'VHDX')
    throw refused(name, path === options.path ? `it is ${format}` : `there is ${format} in what was ${compression}`);
  onStage('convert');
  const into = join(folder, 'converted');
  await convertDisk({ path, into, format, searchPath, signal, mostBytes: limits.dataBytes });
  return into;
}

function assertRaw(name: string, size: number, start: Buffer): void {
  if (isTar(start)) throw refused(name, 'it is an archive; virtctl image import takes those of images as files');
  if (/^\s*<(!doctype|html|\?xml)/i.test(start.toString('latin1', 0, SECTOR))) throw refused(name, 'it is a web page');
  if (size === 0 || size % SECTOR !== 0) throw refused(name, 'a raw disk consists of whole sectors of 512 bytes');
}

async function beginningOf(path: string): Promise<{ readonly size: number; readonly start: Buffer }> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(ARCHIVE_START_BYTES), 0, ARCHIVE_START_BYTES, 0);
    return { size: (await file.stat()).size, start: buffer.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}

function refused(name: string, why: string): UserError {
  return new UserError('NOT_A_DISK', `${name} is no disk that can be run`, {
    why,
    fix: 'give a raw, qcow2, VMDK or VHDX disk, compressed with gzip, xz or zstd or not, or an OVA',
  });
}

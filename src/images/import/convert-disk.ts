/**
 * Makes qcow2 of VMDK and VHDX with qemu-img. Such a file may say that its data is in other files, any of this machine: of VMDK only those of
 * one file are taken, told by their headers before qemu-img sees them; qemu-img itself refuses VHDX with a parent. It runs with bounds of
 * memory, time and size, and without our environment.
 */
import { execFile } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { UserError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import { DISK_LIMITS } from './decompress.ts';

type Options = {
  readonly path: string;
  /** Must not exist. */
  readonly into: string;
  readonly format: 'VMDK' | 'VHDX';
  readonly searchPath: string | undefined;
  readonly signal: AbortSignal;
  /** Of what is written. */
  readonly mostBytes?: number;
};

const MOST_MEMORY_KIB = 4 * 2 ** 20;
const MOST_CPU_SECONDS = 1800;
const PATIENCE_MS = 3600_000;
const MOST_DESCRIPTOR_BYTES = 64 * 1024;
/** Everything of such a disk is in the one file. */
const SINGLE_FILE = ['monolithicSparse', 'streamOptimized'];

export async function convertDisk({ path, into, format, searchPath, signal, mostBytes = DISK_LIMITS.dataBytes }: Options): Promise<void> {
  const program = findProgram('qemu-img', searchPath);
  if (!program)
    throw new UserError('QEMU_IMG_MISSING', `the disk is ${format}, and there is no qemu-img here to convert it`, {
      fix: 'install qemu-utils (or qemu-img), or convert it elsewhere with qemu-img convert -O qcow2',
      exitCode: 7,
    });
  if (format === 'VMDK') assertSingleFile(path);
  const limits = `ulimit -c 0; ulimit -v ${MOST_MEMORY_KIB}; ulimit -t ${MOST_CPU_SECONDS}; ulimit -f ${Math.floor(mostBytes / 512)}; exec "$@"`;
  const command = [program, 'convert', '-f', format.toLowerCase(), '-O', 'qcow2', path, into];
  try {
    await promisify(execFile)('/bin/sh', ['-c', limits, 'sh', ...command], { signal, timeout: PATIENCE_MS, env: {}, maxBuffer: 2 ** 20 });
  } catch (error) {
    signal.throwIfAborted();
    const { stderr, message } = error as Error & { stderr?: string }; // what execFile rejects with
    const why = (stderr || message).trim().split('\n')[0]?.replaceAll(path, 'the disk').slice(0, 300);
    throw new UserError('DISK_NOT_CONVERTED', `the ${format} disk cannot be converted`, { why, cause: error });
  }
}

/** A UserError unless all of a VMDK is in this file. Numbers are little-endian; offsets are in sectors. */
export function assertSingleFile(path: string): void {
  const refuse = (why: string) =>
    new UserError('VMDK_REFUSED', 'the VMDK disk is refused', { why, fix: 'convert it where it was made: qemu-img convert -O qcow2' });
  const file = openSync(path, 'r');
  try {
    const read = (length: number, position: number) => {
      const buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(file, buffer, 0, length, position));
    };
    const header = read(512, 0);
    if (header.length < 512 || header.toString('latin1', 0, 4) !== 'KDMV') throw refuse('it is not of one sparse file, it names others');
    const [capacity, descriptorAt, descriptorSectors] = [
      header.readBigUInt64LE(12),
      header.readBigUInt64LE(28),
      header.readBigUInt64LE(36),
    ];
    // Without a capacity the descriptor decides what else is opened.
    if (capacity === 0n) throw refuse('it says nothing of its size, and leaves that to other files');
    if (descriptorAt === 0n || descriptorAt > 2n ** 40n) throw refuse('it does not say what it is');
    const length = Math.min(Number(descriptorSectors) * 512, MOST_DESCRIPTOR_BYTES);
    const descriptor = read(length, Number(descriptorAt) * 512).toString('latin1');
    const type = /^\s*createType\s*=\s*"([^"]*)"/m.exec(descriptor)?.[1] ?? '';
    if (!SINGLE_FILE.includes(type))
      throw refuse(`it is of type ${JSON.stringify(type.slice(0, 40))}, taken are ${SINGLE_FILE.join(' and ')}`);
    const parent = /^\s*parentCID\s*=\s*([0-9a-f]+)/im.exec(descriptor)?.[1];
    if (/parentFileNameHint/i.test(descriptor) || (parent !== undefined && !/^f{8}$/i.test(parent)))
      throw refuse('it is an overlay of another file, which could be any file of this machine');
  } finally {
    closeSync(file);
  }
}

/**
 * A dump of a guest's memory as a file on a PVC. It is written beside its name and gets it when all of it is on the disk, so whatever has the name is
 * whole. Zeros are not written: much of most memories is nothing else. A machine has one dump on a PVC: its last one goes when the new one is whole, and
 * not before: there has to be room for both. What others have on the PVC is theirs, but for what
 * nobody writes any more (sweep-parts.ts). It is for the group of the PVC, whose other Pods
 * have other users.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DUMP_END_LENGTH, DUMP_SUFFIX, type DumpHead } from '../api/launcher/memory-dump.ts';
import { openForGroup } from './open-for-group.ts';
import { sweepParts } from './sweep-parts.ts';

const PART_SUFFIX = '.part';
/** How virt-handler ends the name of a dump; what stands before says of which machine it is. */
const TIME = /\d{8}-\d{6}$/;
/** What a PVC has that is the disk of a machine. */
const DISK_FILE = 'disk.img';
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const ZEROS = Buffer.alloc(64 * 1024);
const MIB = 2 ** 20;

/** Writes one file; what does not come to its end leaves nothing behind. */
export class DumpWriter {
  readonly #folder: string;
  readonly #head: DumpHead;
  readonly #part: string;
  readonly #file: number;
  #bytes = 0;
  #tail = Buffer.alloc(0);

  /** Throws when the PVC cannot take it. */
  constructor(folder: string, head: DumpHead) {
    this.#folder = folder;
    this.#head = head;
    this.#part = join(folder, `${head.fileName}${PART_SUFFIX}`);
    this.#removeOthers(`${DUMP_SUFFIX}${PART_SUFFIX}`); // of a try that was killed
    rmSync(this.#part, { force: true });
    if (existsSync(join(folder, DISK_FILE)))
      throw new Error('the PVC is the disk of a machine (it has disk.img): use one of its own for dumps');
    this.#file = openForGroup(this.#part, NEW_FILE);
    try {
      sweepParts(folder, fstatSync(this.#file).mtimeMs);
      this.#mustFit();
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  #mustFit(): void {
    const [free, head] = [freeBytes(this.#folder), this.#head];
    if (free < head.bytes)
      throw new Error(
        `the PVC has ${Math.floor(free / MIB)} MiB left, the dump needs ${Math.ceil(head.bytes / MIB)} MiB${this.#besides()}`,
      );
  }

  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += ZEROS.length)
      writeUnlessZero(this.#file, chunk.subarray(at, at + ZEROS.length), this.#bytes + at);
    this.#bytes += chunk.length;
    this.#tail = Buffer.from(
      chunk.length >= DUMP_END_LENGTH ? chunk.subarray(-DUMP_END_LENGTH) : Buffer.concat([this.#tail, chunk]).subarray(-DUMP_END_LENGTH),
    );
    if (this.#bytes > this.#head.bytes + DUMP_END_LENGTH)
      throw new Error(`the dump is larger than ${Math.ceil(this.#head.bytes / MIB)} MiB`);
  }

  /** All of it is on the disk when this returns. Throws for a stream that was cut off. */
  finish(): number {
    if (this.#tail.toString('latin1') !== this.#head.end) throw new Error('the stream was cut off');
    const bytes = this.#bytes - DUMP_END_LENGTH;
    ftruncateSync(this.#file, bytes);
    fsyncSync(this.#file);
    closeSync(this.#file);
    renameSync(this.#part, join(this.#folder, this.#head.fileName));
    this.#removeOthers(DUMP_SUFFIX);
    const folder = openSync(this.#folder, constants.O_RDONLY | constants.O_DIRECTORY);
    fsyncSync(folder);
    closeSync(folder);
    return bytes;
  }

  giveUp(): void {
    try {
      closeSync(this.#file);
    } catch {
      // closed by `finish`, which failed after that
    }
    rmSync(this.#part, { force: true });
  }

  #removeOthers(suffix: string): void {
    for (const name of this.#others(suffix)) rmSync(join(this.#folder, name), { force: true });
  }

  /** The others of this machine. */
  #others(suffix: string): string[] {
    const { fileName } = this.#head;
    const machine = machineOf(fileName, DUMP_SUFFIX);
    return readdirSync(this.#folder).filter((name) => machine !== undefined && name !== fileName && machineOf(name, suffix) === machine);
  }

  #besides(): string {
    const [last] = this.#others(DUMP_SUFFIX);
    return last === undefined ? '' : ` besides ${last}, which stays until this one is whole: use a larger PVC, or delete that`;
  }
}

function machineOf(name: string, suffix: string): string | undefined {
  const stem = name.endsWith(suffix) ? name.slice(0, -suffix.length) : '';
  return TIME.test(stem) ? stem.replace(TIME, '') : undefined;
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function writeUnlessZero(file: number, piece: Buffer, at: number): void {
  if (piece.equals(ZEROS.subarray(0, piece.length))) return;
  for (let done = 0; done < piece.length; ) done += writeSync(file, piece, done, piece.length - done, at + done);
}

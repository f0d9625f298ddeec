/**
 * A dump of a guest's memory as a file on a PVC. It is written beside its name and gets it when all of it is on the disk, so whatever has the name is
 * whole. Zeros are not written: much of most memories is nothing else. One dump at a time: the last one goes when the new one is whole, or
 * before, where there is no room for both.
 */
import {
  closeSync,
  constants,
  existsSync,
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

const PART_FILE = 'memory.dump.part';
/** What a PVC has that is the disk of a machine. */
const DISK_FILE = 'disk.img';
const ZEROS = Buffer.alloc(64 * 1024);
const MIB = 2 ** 20;

/** Writes one file; what does not come to its end leaves nothing behind. */
export class DumpWriter {
  readonly #folder: string;
  readonly #head: DumpHead;
  readonly #file: number;
  #bytes = 0;
  #tail = Buffer.alloc(0);

  /** Throws when the PVC cannot take it. */
  constructor(folder: string, head: DumpHead) {
    this.#folder = folder;
    this.#head = head;
    rmSync(join(folder, PART_FILE), { force: true }); // of a try that was killed
    if (existsSync(join(folder, DISK_FILE)))
      throw new Error('the PVC is the disk of a machine (it has disk.img): use one of its own for dumps');
    if (freeBytes(folder) < head.bytes) this.#removeOthers();
    const free = freeBytes(folder);
    if (free < head.bytes)
      throw new Error(`the PVC has ${Math.floor(free / MIB)} MiB left, the dump needs ${Math.ceil(head.bytes / MIB)} MiB`);
    this.#file = openSync(join(folder, PART_FILE), 'wx', 0o640);
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
    renameSync(join(this.#folder, PART_FILE), join(this.#folder, this.#head.fileName));
    this.#removeOthers();
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
    rmSync(join(this.#folder, PART_FILE), { force: true });
  }

  #removeOthers(): void {
    for (const name of readdirSync(this.#folder))
      if (name.endsWith(DUMP_SUFFIX) && name !== this.#head.fileName) rmSync(join(this.#folder, name), { force: true });
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function writeUnlessZero(file: number, piece: Buffer, at: number): void {
  if (piece.equals(ZEROS.subarray(0, piece.length))) return;
  for (let done = 0; done < piece.length; ) done += writeSync(file, piece, done, piece.length - done, at + done);
}

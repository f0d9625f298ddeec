/**
 * The saved memory of a guest as a file on a PVC: a head of 4096 bytes, JSON with what it is and the digest of the rest, and the stream that
 * QEMU wrote. It is written beside its name and gets it when all of it is on the disk, so whatever has the name is whole. Format 1; a
 * file of another format is refused.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { SavedMachine } from '../api/launcher/suspension.ts';
import { UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';

export const MEMORY_FILE = 'memory';
const PART_FILE = 'memory.part';
const FORMAT = 'kubevirt-ts memory 1';
const HEAD_BYTES = 4096;
const CHUNK_BYTES = 1 << 20;
const FIX = 'virtctl start --discard boots the machine anew, virtctl stop throws the saved memory away';

type Head = SavedMachine & { readonly format: string; readonly digest: string; readonly bytes: number };

/** Writes one file; what does not come to its end leaves nothing behind. */
export class MemoryWriter {
  readonly #folder: string;
  readonly #saved: SavedMachine;
  readonly #file: number;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(folder: string, saved: SavedMachine) {
    this.#folder = folder;
    this.#saved = saved;
    rmSync(join(folder, PART_FILE), { force: true }); // of a try that was killed
    this.#file = openSync(join(folder, PART_FILE), 'wx', 0o640);
    try {
      writeAll(this.#file, Buffer.alloc(HEAD_BYTES), 0);
    } catch (error) {
      this.giveUp(); // nobody else can: there is no object yet
      throw error;
    }
  }

  take(chunk: Buffer): void {
    writeAll(this.#file, chunk, HEAD_BYTES + this.#bytes);
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  /** All of it is on the disk when this returns. */
  finish(): { readonly digest: string; readonly bytes: number } {
    const digest = this.#hash.digest('hex');
    const head: Head = { ...this.#saved, format: FORMAT, digest, bytes: this.#bytes };
    const text = Buffer.from(JSON.stringify(head));
    if (text.length > HEAD_BYTES) throw new Error('the head of the file is too long');
    writeAll(this.#file, text, 0);
    fsyncSync(this.#file);
    closeSync(this.#file);
    renameSync(join(this.#folder, PART_FILE), join(this.#folder, MEMORY_FILE));
    const folder = openSync(this.#folder, constants.O_RDONLY | constants.O_DIRECTORY);
    fsyncSync(folder);
    closeSync(folder);
    return { digest, bytes: this.#bytes };
  }

  giveUp(): void {
    try {
      closeSync(this.#file);
    } catch {
      // closed by `finish`, which failed after that
    }
    rmSync(join(this.#folder, PART_FILE), { force: true });
  }
}

function writeAll(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

export type Expected = SavedMachine & { readonly digest: string };

/** Leaves an open file where the stream begins; a UserError says why this memory cannot be loaded by this machine. */
export function openMemory(folder: string, expected: Expected): number {
  let file: number;
  try {
    file = openSync(join(folder, MEMORY_FILE), constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    throw refusal('its saved memory is not on the PVC', error);
  }
  try {
    check(readHead(file), expected);
    checkContent(file, expected.digest);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Read by position; then the file stands at the beginning of the stream. */
function readHead(file: number): Head {
  const bytes = Buffer.alloc(HEAD_BYTES);
  const length = readSync(file, bytes, 0, HEAD_BYTES, null);
  const end = bytes.indexOf(0);
  try {
    const head: unknown = JSON.parse(bytes.toString('utf8', 0, end < 0 ? length : end));
    if (isObject(head) && head['format'] === FORMAT) return head as Head; // as MemoryWriter wrote it; the digest says whether it is that one
  } catch {
    // said below
  }
  throw refusal('the file on the PVC is not memory that this release has saved');
}

function check(head: Head, expected: Expected): void {
  if (head.digest !== expected.digest) throw refusal('the PVC holds other memory than that which was saved');
  if (head.qemu !== expected.qemu) throw refusal(`its memory was saved by QEMU ${head.qemu}, and here is QEMU ${expected.qemu}`);
  if (head.accelerator !== expected.accelerator)
    throw refusal(`its memory was saved with ${head.accelerator}, and here is ${expected.accelerator}`);
  if (head.machine !== expected.machine) throw refusal('the machine has other devices here than when its memory was saved');
}

function checkContent(file: number, digest: string): void {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const { size } = fstatSync(file);
  for (let at = HEAD_BYTES; at < size; ) {
    const length = readSync(file, chunk, 0, CHUNK_BYTES, at);
    if (length === 0) break;
    hash.update(length === CHUNK_BYTES ? chunk : chunk.subarray(0, length));
    at += length;
  }
  if (hash.digest('hex') !== digest) throw refusal('its saved memory is damaged: the digest does not match');
}

function refusal(why: string, cause?: unknown): UserError {
  return new UserError('RESUME_REFUSED', 'the guest cannot be resumed', { why, fix: FIX, ...(cause !== undefined && { cause }) });
}

/**
 * The disk of a PVC, as its guest sees it, to be read only. Its format is the one that was decided when it was made; what is qcow2 is read by
 * qemu-nbd, as our user, from the file that we have opened and checked: no other file is opened, whatever its header says by then.
 */
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, read as readFile } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import { findBlockDevice } from '../block-device.ts';
import { keptFormat } from '../disk-format.ts';
import { factsAs } from '../image-format.ts';
import { CLAIM_DISK } from '../new-disk.ts';
import { openInRoot } from '../open-in-root.ts';
import { NbdClient } from './nbd-client.ts';

export type OpenDisk = {
  readonly sizeBytes: number;
  /** Another one as soon as anything was written to the disk. */
  etag(): string;
  read(from: number, bytes: number): Promise<Buffer>;
  close(): void;
};

export type DiskOptions = {
  /** Where the PVC is: its folder, or the device itself. */
  readonly folder: string;
  /** It is in Block mode: raw, whatever it holds. */
  readonly isDevice?: boolean | undefined;
  /** What the PVC says. */
  readonly format: string | undefined;
  /** The name of a socket that can be made in the folder of this process: whole paths may be too long for one. */
  readonly socketPath: string;
  /** Where programs are looked for. */
  readonly searchPath: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

const PROGRAM = 'qemu-nbd';
const PATIENCE_MS = 10_000;
const LOOK_MS = 20;
/** Of what it says when it cannot. */
const MOST_TEXT = 2_000;

/** A UserError when there is no disk, or none that can be read. */
export async function openExportedDisk(options: DiskOptions): Promise<OpenDisk> {
  const { folder, isDevice } = options;
  const device = isDevice ? findBlockDevice(folder) : undefined;
  if (device) return openDevice(device);
  const file = openFile(folder);
  try {
    const format = isDevice ? 'raw' : options.format;
    const declared = format === 'qcow2' || format === 'raw' ? format : undefined;
    const facts = factsAs(keptFormat(folder, { declared, ofImage: undefined }), file, CLAIM_DISK);
    const etag = () => etagOf(file);
    if (facts.format === 'raw') {
      const { sizeBytes } = facts;
      return { sizeBytes, etag, read: (from, bytes) => readAll(file, from, bytes), close: () => closeSync(file) };
    }
    const served = await serveQcow2(options, file);
    const close = () => {
      served.close();
      closeSync(file);
    };
    return { sizeBytes: facts.sizeBytes, etag, read: (from, bytes) => served.client.read(from, bytes), close };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Nobody can tell when a device was written last, so what was taken from another Pod is not gone on with. */
function openDevice({ path, sizeBytes }: { readonly path: string; readonly sizeBytes: number }): OpenDisk {
  const file = openSync(path, constants.O_RDONLY);
  const etag = `"${randomUUID()}"`;
  return { sizeBytes, etag: () => etag, read: (from, bytes) => readAll(file, from, bytes), close: () => closeSync(file) };
}

function openFile(folder: string): number {
  try {
    return openInRoot(folder, CLAIM_DISK);
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'IMAGE_FILE_MISSING')) throw error;
    throw new UserError('NO_DISK', 'there is nothing on the PVC', {
      why: 'no machine has used it yet, and nobody has put anything there',
      cause: error,
    });
  }
}

function etagOf(file: number): string {
  const { ino, size, mtimeNs } = fstatSync(file, { bigint: true });
  return `"${createHash('sha256').update(`${ino} ${size} ${mtimeNs}`).digest('hex').slice(0, 32)}"`;
}

/** All of these bytes, or a UserError. */
export async function readAll(file: number, from: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await promisify(readFile)(file, buffer, done, bytes - done, from + done);
    if (bytesRead === 0) throw new UserError('DISK_SHORTER', 'the disk became shorter while it was read');
    done += bytesRead;
  }
  return buffer;
}

async function serveQcow2({ socketPath, searchPath, clock, signal }: DiskOptions, file: number) {
  const program = findProgram(PROGRAM, searchPath);
  if (!program)
    throw new UserError('QEMU_NBD_MISSING', `the disk is qcow2, and there is no ${PROGRAM} here to read it`, {
      fix: 'apt-get install qemu-utils',
      exitCode: 7,
    });
  const node = { driver: 'qcow2', 'read-only': true, backing: null, file: { driver: 'file', filename: '/proc/self/fd/3', locking: 'off' } };
  const args = ['--read-only', '--persistent', `--socket=/proc/self/cwd/${socketPath}`, `json:${JSON.stringify(node)}`];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe', file], env: {} });
  let said = '';
  let hasEnded = false;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(0, MOST_TEXT);
  });
  child.once('exit', () => {
    hasEnded = true;
  });
  child.once('error', () => {
    hasEnded = true;
  });
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  for (let waited = 0; ; waited += LOOK_MS) {
    try {
      const client = await NbdClient.open(socketPath);
      const close = () => {
        client.close();
        stop();
      };
      return { client, close };
    } catch (error) {
      signal.throwIfAborted();
      if (!hasEnded && waited < PATIENCE_MS) {
        await clock.sleep(LOOK_MS, signal);
        continue;
      }
      stop();
      throw new UserError('DISK_NOT_READ', 'the qcow2 disk cannot be read', {
        why: said.trim().split('\n')[0] || String(error),
        cause: error,
      });
    }
  }
}

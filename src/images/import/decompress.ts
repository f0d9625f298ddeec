/** Unpacks a disk that was published compressed: gzip and zstd here, xz by the program of that name. Bounded, and holes stay holes. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, createReadStream, openSync } from 'node:fs';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { UserError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import { formatBytes } from '../../base/quantity.ts';
import { writeSparseFile } from '../sparse-file.ts';

export type Compression = 'gzip' | 'xz' | 'zstd';
export type DiskLimits = {
  /** Of what is really in a disk. */
  readonly dataBytes: number;
  /** With its holes. */
  readonly sizeBytes: number;
};
type Options = {
  readonly path: string;
  /** Must not exist. */
  readonly into: string;
  readonly compression: Compression;
  readonly searchPath: string | undefined;
  readonly signal: AbortSignal;
  readonly limits?: DiskLimits;
  readonly onRead?: (readBytes: number) => void;
};

/** What helps whoever has more than that. */
export const SMALLER_DISK = 'make it smaller where it was made, or, for a DataVolume, ask for more storage';
export const DISK_LIMITS: DiskLimits = { dataBytes: 64 * 2 ** 30, sizeBytes: 1024 * 2 ** 30 };
/** What xz may take: the largest dictionary of its presets, and some. */
const XZ_MEMORY = '256MiB';

export async function decompress(options: Options): Promise<void> {
  const { into, signal, limits = DISK_LIMITS } = options;
  let [sizeBytes, dataBytes] = [0, 0];
  async function* bounded() {
    for await (const chunk of contentOf(options)) {
      signal.throwIfAborted();
      sizeBytes += chunk.length;
      if (sizeBytes > limits.sizeBytes) throw tooLarge(limits.sizeBytes);
      yield chunk;
    }
  }
  const account = (bytes: number) => {
    dataBytes += bytes;
    if (dataBytes > limits.dataBytes) throw tooLarge(limits.dataBytes);
  };
  try {
    await writeSparseFile({ path: into, content: bounded(), account });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof UserError || (error as NodeJS.ErrnoException).syscall ? error : damaged(error);
  }
}

function contentOf(options: Options): AsyncIterable<Buffer> {
  switch (options.compression) {
    case 'gzip':
      return unpacked(options, createGunzip());
    case 'zstd':
      return unpacked(options, createZstdDecompress());
    case 'xz':
      return unpackedByXz(options);
  }
}

function unpacked({ path, onRead = () => {} }: Options, unpack: Transform): Readable {
  const source = createReadStream(path, { highWaterMark: 2 ** 18 });
  source.on('data', () => onRead(source.bytesRead));
  return pipeline(source, unpack, () => {}) as Transform; // who reads it hears of failures
}

/** It reads the file itself. */
async function* unpackedByXz({ path, searchPath, signal }: Options): AsyncIterable<Buffer> {
  const program = findProgram('xz', searchPath);
  if (!program)
    throw new UserError('XZ_MISSING', 'the disk is compressed with xz, and there is no program of that name here', {
      fix: 'install xz-utils (or xz), or unpack the file elsewhere and give it unpacked',
      exitCode: 7,
    });
  const file = openSync(path, 'r');
  const args = ['--decompress', '--stdout', '--threads=1', `--memlimit-decompress=${XZ_MEMORY}`];
  // its types do not know what a number among them means
  const child = spawn(program, args, { stdio: [file, 'pipe', 'pipe'], env: {}, signal }) as ChildProcessByStdio<null, Readable, Readable>;
  closeSync(file);
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint = `${complaint}${chunk}`.slice(0, 500);
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(-1));
    child.once('close', resolve);
  });
  try {
    yield* child.stdout;
    const code = await ended;
    if (code !== 0) throw new Error(complaint.trim() || `xz left with ${code}`);
  } finally {
    child.kill();
  }
}

function tooLarge(bytes: number): UserError {
  return new UserError('DISK_TOO_LARGE', 'the unpacked disk is refused', {
    why: `it has more than ${formatBytes(bytes)}`,
    fix: SMALLER_DISK,
  });
}

function damaged(error: unknown): UserError {
  return new UserError('DISK_DAMAGED', 'the disk cannot be unpacked', {
    why: (error as Error).message,
    fix: 'get the file again',
    cause: error,
  });
}

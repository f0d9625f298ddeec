/** Writes a stream to a new file and leaves out what is zero, so that a disk image takes the space of its data only. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

export type Written = { readonly sizeBytes: number; readonly dataBytes: number };

const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);

/** Creates `path` (it must not exist), calls `account` with every run of bytes that is really written, and syncs the file. */
export async function writeSparseFile(options: {
  readonly path: string;
  readonly content: AsyncIterable<Uint8Array>;
  readonly account?: (dataBytes: number) => void;
}): Promise<Written> {
  const { path, content, account } = options;
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o644);
  try {
    let sizeBytes = 0;
    let dataBytes = 0;
    for await (const chunk of content) {
      for (const [start, end] of dataRuns(chunk, sizeBytes)) {
        account?.(end - start);
        await writeAll(file, chunk.subarray(start, end), sizeBytes + start);
        dataBytes += end - start;
      }
      sizeBytes += chunk.length;
    }
    await file.truncate(sizeBytes); // a file that ends in zeros has its full length, too
    await file.chmod(0o644); // whatever the umask says
    await file.sync();
    return { sizeBytes, dataBytes };
  } finally {
    await file.close();
  }
}

/** Writes what is not zero of a chunk at its place; the length of the file is for who calls. */
export async function writeDataRuns(file: FileHandle, chunk: Uint8Array, offset: number): Promise<void> {
  for (const [start, end] of dataRuns(chunk, offset)) await writeAll(file, chunk.subarray(start, end), offset + start);
}

/** The parts of a chunk that are not zero, in whole blocks of the file that the chunk starts at `offset` of. */
function dataRuns(chunk: Uint8Array, offset: number): [number, number][] {
  const runs: [number, number][] = [];
  let at = 0;
  while (at < chunk.length) {
    const next = Math.min(chunk.length, at + BLOCK - ((offset + at) % BLOCK));
    const last = runs.at(-1);
    if (!isZero(chunk.subarray(at, next))) {
      if (last?.[1] === at) last[1] = next;
      else runs.push([at, next]);
    }
    at = next;
  }
  return runs;
}

function isZero(part: Uint8Array): boolean {
  return ZEROS.compare(part, 0, part.length, 0, part.length) === 0;
}

/** A write may take less than it is given when room runs out, and the next one says so. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

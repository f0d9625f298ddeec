/**
 * Writes a disk that is taken out of a cluster to a file: under another name, which becomes its own when it is whole. Beside it stands how far
 * it is, so that the same command continues after a Ctrl+C, a kill or a full disk; of a disk that was written to since, all is taken again.
 */
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { isApiError, UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { writeAll, writeDataRuns } from '../../images/sparse-file.ts';
import { type DiskSource, type Piece, takePieces } from './take-pieces.ts';

export type DiskFormat = 'gzip' | 'raw';
export type Progress = { readonly doneBytes: number; readonly totalBytes: number; readonly resumedBytes: number };
export type SaveOptions = DiskSource & {
  readonly path: string;
  readonly format: DiskFormat;
  readonly onProgress: (progress: Progress) => void;
};

/** What stands beside the file: the state of the disk, how far it is taken, and how long the file is by that. */
type Journal = { readonly format: DiskFormat; readonly etag: string; readonly from: number; readonly fileBytes: number };

const JOURNAL_EVERY_BYTES = 8 * 2 ** 20;
/** A disk that is written to all the time is no disk of a stopped machine. */
const MOST_TRIES = 3;

/** Resolves when the file is there. */
export async function saveDisk(options: SaveOptions): Promise<Progress> {
  for (let tries = 1; ; tries++) {
    try {
      return await saveOnce(options);
    } catch (error) {
      if (!isApiError(error, 'Conflict')) throw error;
      await forget(options.path);
      if (tries === MOST_TRIES)
        throw new UserError('DISK_CHANGES', `the disk ${options.volume} is written to while it is taken`, {
          fix: 'stop what uses it, and try again',
          cause: error,
        });
    }
  }
}

/** Nothing of a try is left. */
async function forget(path: string): Promise<void> {
  await Promise.all([partOf(path), journalOf(path)].map((each) => rm(each, { force: true })));
}

/** The bytes of a piece. */
export async function unpackedPiece({ packed, from, to }: Piece): Promise<Buffer> {
  const bytes = await promisify(gunzip)(packed, { maxOutputLength: to - from });
  if (bytes.length === to - from) return bytes;
  throw new UserError('BAD_ANSWER', 'the cluster sent something that is no part of a disk');
}

async function saveOnce({ path, format, onProgress, ...source }: SaveOptions): Promise<Progress> {
  const journal = await readJournal(path, format);
  const part = partOf(path);
  const file = await open(part, journal ? 'r+' : 'w', 0o600);
  let progress: Progress = { doneBytes: journal?.from ?? 0, totalBytes: journal?.from ?? 0, resumedBytes: journal?.from ?? 0 };
  try {
    let fileBytes = journal?.fileBytes ?? 0;
    let noted = progress.doneBytes;
    if (journal) await file.truncate(fileBytes);
    for await (const piece of takePieces(source, journal)) {
      if (format === 'raw') await writeDataRuns(file, await unpackedPiece(piece), piece.from);
      else await writeAll(file, piece.packed, fileBytes);
      fileBytes = format === 'raw' ? piece.to : fileBytes + piece.packed.length;
      progress = { ...progress, doneBytes: piece.to, totalBytes: piece.totalBytes };
      if (piece.to - noted >= JOURNAL_EVERY_BYTES || noted === 0) {
        if (format === 'raw') await file.truncate(fileBytes);
        await file.datasync();
        await writeJournal(path, { format, etag: piece.etag, from: piece.to, fileBytes });
        noted = piece.to;
      }
      onProgress(progress);
    }
    await file.truncate(fileBytes); // a disk that ends in zeros has its full length, too
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
  await forget(path);
  return progress;
}

function partOf(path: string): string {
  return `${path}.part`;
}

function journalOf(path: string): string {
  return `${path}.part.json`;
}

async function writeJournal(path: string, journal: Journal): Promise<void> {
  const next = `${journalOf(path)}.new`;
  await writeFile(next, JSON.stringify(journal));
  await rename(next, journalOf(path));
}

/** Undefined when there is nothing to go on with. */
async function readJournal(path: string, format: DiskFormat): Promise<Journal | undefined> {
  try {
    const said: unknown = JSON.parse(await readFile(journalOf(path), 'utf8'));
    const file = await open(partOf(path), 'r');
    const { size } = await file.stat().finally(() => file.close());
    const isOne =
      isObject(said) && typeof said['etag'] === 'string' && Number.isSafeInteger(said['from']) && Number.isSafeInteger(said['fileBytes']);
    const journal = said as Journal; // as just checked
    return isOne && journal.format === format && size >= journal.fileBytes ? journal : undefined;
  } catch {
    return undefined; // none, or none that was written whole
  }
}

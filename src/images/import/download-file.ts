/**
 * Downloads one file. It grows as `partial` in a folder of its own, beside what its server said about it (`partial.json`), and becomes `file`
 * when all of it is there and has its digest. A download that was cut off, by the network or by the end of the process, goes on where it was
 * when the server still has the same file, or when a digest will tell. Wrong bytes leave nothing.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { writeFileDurably } from '../../base/node/durable-file.ts';
import { explainSystemError } from '../../base/node/system-error.ts';
import { formatBytes } from '../../base/quantity.ts';
import type { Fetch } from '../guarded-fetch.ts';
import { digestOfFile } from './file-digest.ts';

export type DownloadProgress = { readonly doneBytes: number; readonly totalBytes: number | undefined; readonly resumedBytes: number };
export type Download = {
  readonly url: string;
  readonly folder: string;
  /** That is on a PVC. */
  readonly isOnClaim?: boolean;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What the file has to be; unknown when left out. */
  readonly digest?: string | undefined;
  readonly onProgress: (progress: DownloadProgress) => void;
  readonly maxBytes?: number;
  /** So long a server may say nothing. */
  readonly stallMs?: number;
  /** In each such time it has to send a mebibyte. */
  readonly slowMs?: number;
};
/** What a server says about a file, by which it knows whether it has changed. */
export type Validators = { readonly etag?: string; readonly lastModified?: string };

const MAX_DOWNLOAD_BYTES = 64 * 2 ** 30;
const STALL_MS = 60_000;
const SLOW_MS = 600_000;
const LEAST_BYTES = 2 ** 20;
/** In a row, without a byte in between. */
const TRIES = 4;
const FIRST_PAUSE_MS = 500;
/** Of what is written at once: a call to the system for each packet would take longer than the disk. */
const PIECE_BYTES = 2 ** 20;
/** So long something that came may wait for more. */
const MOST_UNWRITTEN_MS = 100;
const RESUMES = 'what has arrived is kept: the same command resumes from there';
const NOTHING_CAME = 'check the address, and whether this machine has a network: virtctl doctor looks at it';
/** What is left free of the disk for everything else. */
const RESERVE_BYTES = 64 * 2 ** 20;

/** Resolves when `file` is there, durable, with its digest, if that is known. */
export async function downloadFile(download: Download): Promise<Validators> {
  const partial = join(download.folder, 'partial');
  try {
    const isResumed = await fill(partial, download);
    if (download.digest !== undefined) await requireDigest(partial, { ...download, digest: download.digest, isResumed });
    const validators = readValidators(download.folder);
    await rename(partial, join(download.folder, 'file'));
    return validators;
  } catch (error) {
    if (isWrong(error) || explainSystemError(error)) discardPartial(download.folder);
    throw explainSystemError(error) ?? error;
  }
}

type Expected = Download & { readonly digest: string; readonly isResumed: boolean };

async function requireDigest(partial: string, { isResumed, ...download }: Expected): Promise<void> {
  const { digest, signal, url } = download;
  let found = await digestOfFile(partial, digest, signal);
  if (isResumed && found !== digest) {
    // It may have changed at its server since the part that was here before.
    await rm(partial, { force: true });
    await fill(partial, download);
    found = await digestOfFile(partial, digest, signal);
  }
  if (found !== digest) throw wrongDigest(url, digest, found);
}

/** Nothing of a download that was not finished is left. */
function discardPartial(folder: string): void {
  for (const name of ['partial', 'partial.json']) rmSync(join(folder, name), { force: true });
}

/** The headers of a question whether a file has changed. */
export function conditionsFor({ etag, lastModified }: Validators): Record<string, string> {
  return { ...(etag !== undefined && { 'if-none-match': etag }), ...(lastModified !== undefined && { 'if-modified-since': lastModified }) };
}

type State = { readonly file: FileHandle; size: number; resumedBytes: number };

/** True when a part of it was here before. */
async function fill(path: string, download: Download): Promise<boolean> {
  const { clock, signal } = download;
  const file = await open(path, 'a', 0o600);
  try {
    const state: State = { file, size: (await file.stat()).size, resumedBytes: 0 };
    state.resumedBytes = state.size;
    for (let failures = 0; ; ) {
      const before = state.size;
      try {
        await file.truncate(before); // a write that failed may have left a part
        await fetchRest(state, download);
        break;
      } catch (error) {
        signal.throwIfAborted();
        failures = state.size > before ? 1 : failures + 1;
        if (error instanceof UserError || explainSystemError(error) || failures >= TRIES)
          throw unreachable(download.url, state.size, error);
        await clock.sleep(FIRST_PAUSE_MS * 2 ** (failures - 1), signal);
        signal.throwIfAborted();
      }
    }
    await file.sync();
    return state.resumedBytes > 0;
  } finally {
    await file.close();
  }
}

/** One request for what is missing. */
async function fetchRest(state: State, download: Download): Promise<void> {
  const { url, folder, signal, stallMs = STALL_MS, slowMs = SLOW_MS, maxBytes = MAX_DOWNLOAD_BYTES, onProgress } = download;
  const stalled = new AbortController();
  const isSilent = () => stalled.abort(new Error(`it was silent for ${stallMs / 1000} s`));
  let timer = setTimeout(isSilent, stallMs);
  let bytesInTime = 0;
  const slow = setInterval(() => {
    if (bytesInTime < LEAST_BYTES) stalled.abort(tooSlow(url, bytesInTime, slowMs));
    bytesInTime = 0;
  }, slowMs);
  try {
    const range = await rangeHeaders(state, download);
    const response = await download.fetch(new URL(url), { headers: range, signal: AbortSignal.any([signal, stalled.signal]) });
    const totalBytes = await begin(state, { response, url, folder });
    if (totalBytes !== undefined && totalBytes > maxBytes) throw tooLarge(url, maxBytes);
    await assertSpace(folder, (totalBytes ?? 0) - state.size, download);
    const tell = (doneBytes: number) => onProgress({ doneBytes, totalBytes, resumedBytes: state.resumedBytes });
    tell(state.size);
    await append(state, response.body ?? [], (doneBytes, newBytes) => {
      bytesInTime += newBytes;
      clearTimeout(timer);
      timer = setTimeout(isSilent, stallMs);
      if (doneBytes > maxBytes) throw tooLarge(url, maxBytes);
      tell(doneBytes);
    });
    if (totalBytes !== undefined && state.size !== totalBytes) throw new Error(`it ended after ${state.size} of ${totalBytes} bytes`);
  } catch (error) {
    throw stalled.signal.aborted ? stalled.signal.reason : error;
  } finally {
    clearTimeout(timer);
    clearInterval(slow);
  }
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * What comes, in larger pieces than it comes in, and after a moment in any case: what has come stays, however it ends. `onReceived` is told how much there
 * is, and may refuse it.
 */
async function append(state: State, chunks: Chunks, onReceived: (doneBytes: number, newBytes: number) => void): Promise<void> {
  let [pieces, bytes, doneBytes]: [Uint8Array[], number, number] = [[], 0, state.size];
  let writing = Promise.resolve();
  const timer = setInterval(() => void write().catch(() => {}), MOST_UNWRITTEN_MS); // whoever waits for it next hears of it
  try {
    for await (const chunk of chunks) {
      doneBytes += chunk.length;
      onReceived(doneBytes, chunk.length);
      pieces.push(chunk);
      bytes += chunk.length;
      if (bytes >= PIECE_BYTES) await write();
    }
  } finally {
    clearInterval(timer);
    await write();
  }

  /** One after the other; after one that failed none. */
  function write(): Promise<void> {
    writing = writing.then(async () => {
      const piece = Buffer.concat(pieces);
      [pieces, bytes] = [[], 0];
      if (piece.length > 0) await state.file.appendFile(piece);
      state.size += piece.length;
    });
    return writing;
  }
}

/** A part is gone on with when it can be known to be of the same file; otherwise it is dropped. */
async function rangeHeaders(state: State, { folder, digest }: Download): Promise<Record<string, string>> {
  if (state.size === 0) return {};
  const { etag, lastModified } = readValidators(folder);
  const validator = etag !== undefined && !etag.startsWith('W/') ? etag : lastModified;
  if (validator === undefined && digest === undefined) {
    await restart(state);
    return {};
  }
  return { range: `bytes=${state.size}-`, ...(validator !== undefined && { 'if-range': validator }) };
}

/** What the answer means for what is here; how large the whole will be, if the server says so. */
async function begin(
  state: State,
  { response, url, folder }: { response: Response; url: string; folder: string },
): Promise<number | undefined> {
  const { status, headers } = response;
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (status === 206 && Number(start) === state.size) return Number(total);
  if (status !== 200) {
    await response.body?.cancel();
    if (status === 206 || status === 416) {
      await restart(state); // what is here is not a part of what is there
      throw new Error(`the server answered ${status} to a question for the rest`);
    }
    if (status >= 500 || status === 429 || status === 408) throw new Error(`the server answered ${status}`);
    throw refused(url, status);
  }
  await restart(state);
  const [etag, lastModified] = [headers.get('etag'), headers.get('last-modified')];
  const validators: Validators = { ...(etag && { etag }), ...(lastModified && { lastModified }) };
  await writeFileDurably(join(folder, 'partial.json'), JSON.stringify(validators));
  const length = headers.get('content-length');
  return length === null ? undefined : Number(length);
}

async function restart(state: State): Promise<void> {
  await state.file.truncate();
  [state.size, state.resumedBytes] = [0, 0];
}

function readValidators(folder: string): Validators {
  try {
    const json: unknown = JSON.parse(readFileSync(join(folder, 'partial.json'), 'utf8'));
    return isObject(json) ? (json as Validators) : {}; // written by us
  } catch {
    return {};
  }
}

async function assertSpace(folder: string, neededBytes: number, { isOnClaim = false }: Pick<Download, 'isOnClaim'>): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder);
  // A PVC with a file system of its own may be hardly larger than its disk; one that shares the disk of its node is not to fill it.
  const reserveBytes = isOnClaim ? Math.min(RESERVE_BYTES, (blocks * bsize) / 100) : RESERVE_BYTES;
  const freeBytes = bavail * bsize - reserveBytes;
  if (neededBytes <= freeBytes) return;
  throw new UserError('DISK_FULL', `there is no space for the download in ${folder}`, {
    why: `it needs ${Math.ceil(neededBytes / 2 ** 20)} MiB, and ${Math.floor(Math.max(0, freeBytes) / 2 ** 20)} MiB can be used`,
    fix: isOnClaim
      ? 'make the PVC larger, or free some space where it is'
      : 'free some space on that disk, or name another one with KUBEVIRT_CACHE',
  });
}

/** The size of a file that is there. */
export function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

function isWrong(error: unknown): boolean {
  return error instanceof UserError && ['DIGEST_MISMATCH', 'DOWNLOAD_TOO_LARGE'].includes(error.code);
}

function wrongDigest(url: string, expected: string, found: string): UserError {
  return new UserError('DIGEST_MISMATCH', `${url} is not what it should be`, {
    why: `its digest is ${found}, expected is ${expected}`,
    fix: 'nothing of it was kept; try again, or ask whoever publishes it',
  });
}

function tooLarge(url: string, maxBytes: number): UserError {
  return new UserError('DOWNLOAD_TOO_LARGE', `${url} is refused`, {
    why: `it has more than ${formatBytes(maxBytes)}`,
    fix: 'check the address, or, for a DataVolume, ask for more storage',
  });
}

/** Another try would be as slow. */
function tooSlow(url: string, bytes: number, slowMs: number): UserError {
  return new UserError('DOWNLOAD_FAILED', `${url} cannot be had now`, {
    why: `in ${slowMs / 1000} s its server sent ${bytes} bytes; less than ${formatBytes(LEAST_BYTES)} in that time is given up`,
    fix: RESUMES,
    exitCode: 8,
  });
}

function refused(url: string, status: number): UserError {
  const isMissing = status === 404 || status === 410;
  return new UserError(isMissing ? 'DOWNLOAD_MISSING' : 'DOWNLOAD_REFUSED', `${url} cannot be had`, {
    why: `the server answered ${status}`,
    fix: 'check the address',
    exitCode: isMissing ? 3 : 6,
  });
}

function unreachable(url: string, arrivedBytes: number, error: unknown): unknown {
  if (error instanceof UserError || explainSystemError(error)) return error;
  return new UserError('DOWNLOAD_FAILED', `${url} cannot be had now`, {
    why: messageOf(error),
    fix: arrivedBytes > 0 ? RESUMES : NOTHING_CAME,
    exitCode: 8,
    cause: error,
  });
}

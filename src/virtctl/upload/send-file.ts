/**
 * Sends a file to a PVC through the API, in pieces: each is a short request, as API servers want them, and after a lost connection the next one
 * begins where the PVC says. The last piece brings the digest of the whole, so that nothing else becomes a disk. What stands between us and the
 * cluster may let a large piece stand still for ever: one that takes far too long is given up, and those after it are smaller.
 */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { UPLOAD_DIGEST_HEADER, type UploadState } from '../../api/importer/upload.ts';
import { subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, isApiError, UserError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { PieceSize } from './piece-size.ts';

export type SendOptions = {
  readonly client: Pick<Client, 'request'>;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly doneBytes: number; readonly totalBytes: number; readonly resumedBytes: number }) => void;
};

/** How often it is tried again without a byte having come through. */
const MOST_FAILURES = 60;
const PAUSE_MS = 250;
const HASHED_BYTES = 4 * 2 ** 20;
/** As API servers have it for any request. */
const LAST_MS = 60_000;

/** Resolves when the PVC has the disk; a UserError with the reason when it is not taken. */
export async function sendFile(options: SendOptions): Promise<{ readonly resumedBytes: number }> {
  const file = await open(options.path);
  try {
    const { size } = await file.stat();
    if (size === 0) throw new UserError('NOT_A_DISK', `${options.path} is empty`, { why: 'a disk consists of at least one sector' });
    return await sendAll(options, file, size);
  } finally {
    await file.close();
  }
}

async function sendAll(options: SendOptions, file: FileHandle, size: number): Promise<{ readonly resumedBytes: number }> {
  const { clock, signal, onProgress } = options;
  let resumedBytes: number | undefined;
  let digest = { hash: createHash('sha256'), at: 0 };
  let state: UploadState | undefined;
  const pieces = new PieceSize();
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    try {
      state ??= await ask(options);
      if (state.stage === 'done') return { resumedBytes: resumedBytes ?? 0 };
      if (state.stage === 'processing') throw new ApiError('ServiceUnavailable', 'a disk is being made of it');
      const from = state.totalBytes === size && state.receivedBytes < size ? state.receivedBytes : 0;
      resumedBytes ??= from;
      if (digest.at > from) digest = { hash: createHash('sha256'), at: 0 };
      await hashUpTo(digest, file, from);
      const piece = await readPiece(file, from, Math.min(pieces.bytes, size - from));
      digest.hash.update(piece);
      digest.at = from + piece.length;
      const isLast = digest.at === size; // whose answer waits for the disk that is made of it
      const startedAtMs = clock.steady();
      const patience = AbortSignal.timeout(isLast ? LAST_MS : pieces.patienceMs());
      const sent = { ...options, signal: AbortSignal.any([signal, patience]) };
      state = await put(sent, { piece, from, size, hash: digest.hash }).catch((error) => {
        if (patience.aborted) pieces.stoodStill();
        throw error;
      });
      pieces.came(piece.length, clock.steady() - startedAtMs);
      onProgress({ doneBytes: digest.at, totalBytes: size, resumedBytes });
      failures = 0;
    } catch (error) {
      if (isApiError(error, 'Invalid') || isApiError(error, 'RequestEntityTooLarge')) throw refused(options, error);
      if (!isTransient(error) || failures++ >= MOST_FAILURES) throw error;
      state = undefined;
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}

function ask({ client, signal, ...at }: SendOptions): Promise<UploadState> {
  return client.request(pathOf(at), { signal }).then((response) => response.json() as Promise<UploadState>);
}

type Sent = { readonly piece: Buffer; readonly from: number; readonly size: number; readonly hash: Hash };

async function put({ client, signal, ...at }: SendOptions, { piece, from, size, hash }: Sent): Promise<UploadState> {
  const end = from + piece.length;
  const headers = {
    'content-type': 'application/octet-stream',
    'content-range': `bytes ${from}-${end - 1}/${size}`,
    ...(end === size && { [UPLOAD_DIGEST_HEADER]: hash.copy().digest('hex') }),
  };
  const response = await client.request(pathOf(at), { method: 'PUT', headers, body: piece as Uint8Array<ArrayBuffer>, signal });
  return (await response.json()) as UploadState;
}

function pathOf({ namespace, name }: Pick<SendOptions, 'namespace' | 'name'>): string {
  return subresourcePath({ resource: 'persistentvolumeclaims', namespace, name }, 'upload');
}

/** What was sent before we came is part of the digest. */
async function hashUpTo(digest: { readonly hash: Hash; at: number }, file: FileHandle, to: number): Promise<void> {
  while (digest.at < to) {
    const piece = await readPiece(file, digest.at, Math.min(HASHED_BYTES, to - digest.at));
    digest.hash.update(piece);
    digest.at += piece.length;
  }
}

async function readPiece(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, from);
  if (bytesRead === length) return buffer;
  throw new UserError('FILE_CHANGED', 'the file became shorter while it was sent', { fix: 'send it again' });
}

/** It may go on in a moment. */
function isTransient(error: unknown): boolean {
  if (error instanceof UserError) return false;
  return (
    !(error instanceof ApiError) || ['Conflict', 'ServiceUnavailable', 'InternalError', 'Timeout', 'TooManyRequests'].includes(error.reason)
  );
}

function refused({ path, name }: SendOptions, error: unknown): UserError {
  const why = error instanceof Error ? error.message : String(error);
  return new UserError('UPLOAD_REFUSED', `${path} did not become the disk of ${name}`, { why, cause: error });
}

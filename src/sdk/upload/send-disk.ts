/**
 * Sends a disk to a PVC through the API, in pieces: each is a short request, as API servers want them, and after a lost connection the next one
 * begins where the PVC says. The last piece brings the digest of the whole, so that nothing else becomes a disk. What stands between us and the
 * cluster may let a large piece stand still for ever: one that takes far too long is given up, and those after it are smaller.
 */
import { UPLOAD_DIGEST_HEADER, type UploadState } from '../../api/importer/upload.ts';
import { subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, INSUFFICIENT_STORAGE, isApiError, UserError } from '../../base/errors.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { Client } from '../../client/client.ts';
import { PieceSize } from './piece-size.ts';

/** Where the disk comes from: a file of this machine, or one that somebody dropped into a browser. */
export type SentDisk = {
  /** As people know it. */
  readonly label: string;
  readonly sizeBytes: number;
  /** As much as was asked for; fewer bytes when it became shorter. */
  read(from: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
};

/** SHA-256 of what comes in pieces, in the quickest way that there is here. */
export type RunningDigest = {
  update(bytes: Uint8Array): void | Promise<void>;
  /** Of all so far, in hexadecimal; more may come. */
  hex(): string;
};

export type SendProgress = { readonly doneBytes: number; readonly totalBytes: number; readonly resumedBytes: number };

export type SendOptions = {
  readonly client: Pick<Client, 'request'>;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  readonly disk: SentDisk;
  readonly newDigest: () => RunningDigest;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SendProgress) => void;
};

/** How often it is tried again without a byte having come through: for more than a minute, in which a cluster is there again. */
const MOST_FAILURES = 40;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;
const HASHED_BYTES = 4 * 2 ** 20;
/** As API servers have it for any request. */
const LAST_MS = 60_000;

/** Resolves when the PVC has the disk; a UserError with the reason when it is not taken. */
export async function sendDisk(options: SendOptions): Promise<{ readonly resumedBytes: number }> {
  const { disk, clock, signal, onProgress } = options;
  const { sizeBytes } = disk;
  if (sizeBytes === 0) throw new UserError('NOT_A_DISK', `${disk.label} is empty`, { why: 'a disk consists of at least one sector' });
  let resumedBytes: number | undefined;
  let digest = beginDigest(options);
  let state: UploadState | undefined;
  const pieces = new PieceSize();
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    try {
      state ??= await ask(options);
      if (state.stage === 'done') return { resumedBytes: resumedBytes ?? 0 };
      if (state.stage === 'processing') throw new ApiError('ServiceUnavailable', 'a disk is being made of it');
      const from = nextByte(state, sizeBytes);
      resumedBytes ??= from;
      if (digest.at > from) digest = beginDigest(options);
      await hashUpTo(digest, options, from);
      const piece = await readPiece(disk, from, Math.min(pieces.bytes, sizeBytes - from));
      await digest.hash.update(piece);
      digest.at = from + piece.length;
      const isLast = digest.at === sizeBytes; // whose answer waits for the disk that is made of it
      const startedAtMs = clock.steady();
      const patience = timeoutSignal(isLast ? LAST_MS : pieces.patienceMs());
      const sent = { ...options, signal: AbortSignal.any([signal, patience]) };
      state = await put(sent, { piece, from, hash: digest.hash }).catch((error) => {
        if (patience.aborted) pieces.stoodStill();
        throw error;
      });
      pieces.came(piece.length, clock.steady() - startedAtMs);
      onProgress({ doneBytes: digest.at, totalBytes: sizeBytes, resumedBytes });
      failures = 0;
    } catch (error) {
      if (error instanceof ApiError && error.code === INSUFFICIENT_STORAGE) throw outOfRoom(options, error);
      if (isApiError(error, 'Invalid') || isApiError(error, 'RequestEntityTooLarge')) throw refused(options, error);
      if (signal.aborted || !isTransient(error) || failures++ >= MOST_FAILURES) throw error;
      state = undefined;
      await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS), signal);
    }
  }
}

/** Where the next piece begins: after what has arrived, when that is of a file of the same size. */
export function nextByte({ totalBytes, receivedBytes }: UploadState, sizeBytes: number): number {
  return totalBytes === sizeBytes && receivedBytes < sizeBytes ? receivedBytes : 0;
}

function ask({ client, signal, ...at }: SendOptions): Promise<UploadState> {
  return client.request(pathOf(at), { signal }).then((response) => response.json() as Promise<UploadState>);
}

type Sent = { readonly piece: Uint8Array<ArrayBuffer>; readonly from: number; readonly hash: RunningDigest };

async function put({ client, signal, disk: { sizeBytes }, ...at }: SendOptions, { piece, from, hash }: Sent): Promise<UploadState> {
  const end = from + piece.length;
  const headers = {
    'content-type': 'application/octet-stream',
    'content-range': `bytes ${from}-${end - 1}/${sizeBytes}`,
    ...(end === sizeBytes && { [UPLOAD_DIGEST_HEADER]: hash.hex() }),
  };
  const response = await client.request(pathOf(at), { method: 'PUT', headers, body: piece, signal });
  return (await response.json()) as UploadState;
}

function pathOf({ namespace, name }: Pick<SendOptions, 'namespace' | 'name'>): string {
  return subresourcePath({ resource: 'persistentvolumeclaims', namespace, name }, 'upload');
}

type Digest = { readonly hash: RunningDigest; at: number };

function beginDigest({ newDigest }: SendOptions): Digest {
  return { hash: newDigest(), at: 0 };
}

/** What was sent before we came is part of the digest. */
async function hashUpTo(digest: Digest, { disk, signal }: SendOptions, to: number): Promise<void> {
  while (digest.at < to) {
    signal.throwIfAborted();
    const piece = await readPiece(disk, digest.at, Math.min(HASHED_BYTES, to - digest.at));
    await digest.hash.update(piece);
    digest.at += piece.length;
  }
}

async function readPiece(disk: SentDisk, from: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const piece = await disk.read(from, length);
  if (piece.length === length) return piece;
  throw new UserError('FILE_CHANGED', 'the file became shorter while it was sent', { fix: 'send it again' });
}

/** It may go on in a moment. */
function isTransient(error: unknown): boolean {
  if (error instanceof UserError) return false;
  return (
    !(error instanceof ApiError) || ['Conflict', 'ServiceUnavailable', 'InternalError', 'Timeout', 'TooManyRequests'].includes(error.reason)
  );
}

function refused({ disk, name }: SendOptions, error: unknown): UserError {
  const why = error instanceof Error ? error.message : String(error);
  return new UserError('UPLOAD_REFUSED', `${disk.label} did not become the disk of ${name}`, { why, cause: error });
}

function outOfRoom({ disk, name, namespace }: SendOptions, error: ApiError): UserError {
  return new UserError('UPLOAD_NO_ROOM', `${disk.label} is not whole in PVC ${namespace}/${name}: there is no room`, {
    why: error.message,
    fix: 'make room, or enlarge its storage, and upload it again: what has arrived is not sent again',
    cause: error,
  });
}
